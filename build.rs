//! Compiles the API definition without protoc.

#![allow(clippy::disallowed_methods, reason = "cargo hands paths to build scripts by environment")]

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use protox::prost::Message;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    println!("cargo:rerun-if-changed=migrations");
    println!("cargo:rerun-if-changed=policies/refund-desk");
    let files: Vec<PathBuf> = fs::read_dir("proto/stateguard/v1")?
        .map(|entry| entry.map(|e| e.path()))
        .collect::<Result<_, _>>()?;
    let descriptors = protox::compile(files, ["proto"])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("descriptor.bin"), descriptors.encode_to_vec())?;
    // Names, so that a message can be turned into JSON by its descriptor (`pb::json`).
    let mut config = prost_build::Config::new();
    config.enable_type_names();
    tonic_prost_build::configure().compile_fds_with_config(descriptors, config)?;
    fs::write(out.join("demo_bundle.rs"), bundle_files("policies/refund-desk")?)?;
    Ok(())
}

/// The files of the demonstration's bundle as a Rust expression: `&[(PATH, include_str!(FILE)), …]`, so that an installed
/// binary needs no source folder.
fn bundle_files(folder: &str) -> Result<String, Box<dyn std::error::Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join(folder);
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut text = String::from("&[");
    for file in files {
        let path = file.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
        text.push_str(&format!("({path:?}, include_str!({:?})),", file.to_string_lossy()));
    }
    text.push(']');
    Ok(text)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

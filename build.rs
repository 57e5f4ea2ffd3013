//! Compiles the API definition without protoc.

#![allow(clippy::disallowed_methods, reason = "cargo hands paths to build scripts by environment")]

use std::{env, fs, path::PathBuf};

use protox::prost::Message;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    println!("cargo:rerun-if-changed=migrations");
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
    Ok(())
}

//! OpenSession: for whom, on whose behalf, within what.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    app::{
        App, Caller, Refused, RefusedKind, access,
        journal::{Journal, Said},
    },
    bundle::{Bundle, workflow::Case},
    domain::{
        contract_terms::{Assurance, ScopeSource},
        entry::EntryKind,
        label::Readers,
        limits,
        principal::{AgentIdentity, Narrower, Principal, Scope, Subject},
        reason::ReasonCode,
        session::Standing,
        session_record::{Counters, Exposure, Session},
        unit::{BundleRow, Change},
    },
    expr::Bindings,
    identity::{ScopeGrant, SessionPrincipal, Workload, rights::Rpc},
};

/// What a caller opens.
#[derive(Debug, Clone)]
pub struct Opening {
    /// The bundle's workflow.
    pub workflow: String,
    /// One of its purposes.
    pub purpose: String,
    /// Names the principal.
    pub principal_token: String,
    /// Adds acts and targets; empty for none.
    pub scope_token: String,
    /// What the agent cuts the scope down to.
    pub narrower: Option<Narrower>,
}

impl App {
    /// Opens a session.
    ///
    /// # Errors
    /// When a token does not hold, belongs to another tenant or principal, or asks for more than
    /// the workflow gives.
    pub async fn open_session(
        &self,
        caller: &Caller,
        opening: Opening,
    ) -> Result<Session, Refused> {
        self.authorize(caller, Rpc::OpenSession, None).await?;
        let Caller::Workload(workload) = caller else {
            return Err(Refused::denied(ReasonCode::RightMissing));
        };
        let bundle = &self.parts().bundle;
        if opening.workflow != bundle.workflow.name {
            return Err(Refused::field(
                "workflow",
                format!("this daemon runs `{}`", bundle.workflow.name),
            ));
        }
        if !bundle.workflow.purposes.contains(&opening.purpose) {
            let known: Vec<&str> = bundle.workflow.purposes.iter().map(String::as_str).collect();
            return Err(Refused::field("purpose", format!("one of: {}", known.join(", "))));
        }
        let session = match self.session_of(bundle, workload, &opening) {
            Ok(session) => session,
            Err(refused) => {
                // Reaching for another's identity or a wider scope is worth remembering.
                if matches!(
                    refused.kind,
                    RefusedKind::PermissionDenied | RefusedKind::Unauthenticated
                ) {
                    self.record_refusal(caller, Rpc::OpenSession, None, refused.code).await;
                }
                return Err(refused);
            }
        };
        self.keep_new(bundle, session).await
    }

    fn session_of(
        &self,
        bundle: &Bundle,
        workload: &Workload,
        opening: &Opening,
    ) -> Result<Session, Refused> {
        let now = self.now();
        let named = self.parts().verifier.session_principal(&opening.principal_token, now)?;
        access::same_tenant(&named.tenant, &workload.tenant)?;
        let subject = subject_of(bundle, &named)?;
        let grant = self.grant(workload, &named, opening)?;
        let scope = scope_of(bundle, grant.as_ref(), opening.narrower.as_ref())?;
        let life = bundle.workflow.expires_after.min(limits::SESSION_MAX_LIFE);
        let expires_at = now.plus(life).min(named.expires_at);
        let resolved = bundle.workflow.case == Case::None;
        let standing = Standing { resolved, ..Standing::default() };
        let principal = principal_of(bundle, named);
        Ok(Session {
            id: self.ids().session(),
            tenant: workload.tenant.clone(),
            version: 1,
            state: standing.state(),
            standing,
            workflow: opening.workflow.clone(),
            purpose: opening.purpose.clone(),
            bundle_name: format!("{}@{}", bundle.name, bundle.version),
            bundle_digest: bundle.digest.to_string(),
            principal,
            agent: AgentIdentity {
                workload: workload.sub.clone(),
                agent: workload.agent.clone(),
                instance: workload.agent_instance.clone(),
            },
            subject,
            scope,
            opened_at: now,
            expires_at,
            case: BTreeMap::new(),
            counters: Counters::default(),
            exposure: Exposure::floor(Readers::Public),
            open: BTreeMap::new(),
            corrupted: BTreeMap::new(),
            entry_count: 0,
            data_count: 0,
            outcome: None,
            stop_reason: None,
            handed_over_with: None,
        })
    }

    /// The scope token, if one was given: for this principal, this tenant, and not of the workload's making.
    fn grant(
        &self,
        workload: &Workload,
        named: &SessionPrincipal,
        opening: &Opening,
    ) -> Result<Option<ScopeGrant>, Refused> {
        if opening.scope_token.is_empty() {
            return Ok(None);
        }
        let grant = self.parts().verifier.scope_grant(&opening.scope_token, self.now())?;
        access::same_tenant(&grant.tenant, &workload.tenant)?;
        if grant.sub != named.sub || grant.signer.issuer != named.signer.issuer {
            return Err(Refused::denied(ReasonCode::NotThePrincipal));
        }
        if grant.signer.thumbprint == workload.signer.thumbprint {
            return Err(Refused::denied(ReasonCode::NotThePrincipal));
        }
        Ok(Some(grant))
    }

    async fn keep_new(&self, bundle: &Bundle, session: Session) -> Result<Session, Refused> {
        let mut journal = Journal::opening(self, session);
        journal.change(Change::KeepBundle(self.bundle_row(bundle)?));
        let opened = &journal.session;
        let members = json!({
            "workflow": opened.workflow,
            "purpose": opened.purpose,
            "bundle": {"name": bundle.name, "version": bundle.version, "digest": bundle.digest.as_str()},
            "identity": self.identity_said(opened),
            "scope": {
                "source": opened.scope.source.as_str(),
                "tools": opened.scope.tools,
                "acts": opened.scope.acts,
                "targets": opened.scope.targets.iter()
                    .map(|(ty, ids)| (ty.clone(), Value::from(ids.len())))
                    .collect::<serde_json::Map<_, _>>(),
                "limits": opened.scope.limits,
            },
            "state": opened.state.as_str(),
            "expires_at_us": opened.expires_at.micros(),
        });
        journal.write(EntryKind::SessionOpened, Said::with(members))?;
        match journal.commit().await? {
            Ok((session, _)) => Ok(session),
            Err(refusal) => Err(refusal.into()),
        }
    }

    /// The sources of a bundle, kept so that its decisions can be made again.
    fn bundle_row(&self, bundle: &Bundle) -> Result<BundleRow, Refused> {
        Ok(BundleRow {
            digest: bundle.digest.clone(),
            name: bundle.name.clone(),
            version: bundle.version.clone(),
            sources: crate::bundle::to_kept(bundle).map_err(Refused::internal)?,
            kept_at: self.now(),
        })
    }
}

fn principal_of(bundle: &Bundle, named: SessionPrincipal) -> Principal {
    let channel = bundle.channels.get(&named.channel);
    let vouched = channel.map_or(Assurance::Claimed, |channel| channel.assurance);
    // A channel gives its assurance only to somebody who signed in there.
    let assurance = if vouched == Assurance::Authenticated && named.auth_time.is_none() {
        Assurance::Claimed
    } else {
        vouched
    };
    Principal {
        issuer: named.signer.issuer,
        sub: named.sub,
        kind: named.kind,
        roles: named.roles,
        channel: named.channel,
        auth_time: named.auth_time,
        amr: named.amr,
        consents: named.consents,
        claims: named.claims,
        assurance,
        max_auth_age_s: channel.and_then(|channel| channel.max_auth_age).map(|age| age.as_secs()),
    }
}

/// The business record that the token's claims name; none where the bundle binds none or the claim is absent.
fn subject_of(bundle: &Bundle, named: &SessionPrincipal) -> Result<Option<Subject>, Refused> {
    let Some(rule) = &bundle.subject else { return Ok(None) };
    let Value::Object(mut claims) = named.claims.clone() else { return Ok(None) };
    claims.insert("sub".to_owned(), Value::from(named.sub.clone()));
    claims.insert("channel".to_owned(), Value::from(named.channel.clone()));
    let mut bindings = Bindings::new();
    bindings.bind("token", Value::Object(claims));
    match rule.id.eval(&bindings) {
        Ok(Value::String(id)) if !id.is_empty() => Ok(Some(Subject { ty: rule.ty.clone(), id })),
        Ok(Value::Number(id)) => Ok(Some(Subject { ty: rule.ty.clone(), id: id.to_string() })),
        Ok(_) | Err(_) => Ok(None),
    }
}

/// The workflow's scope, with what the grant adds within it, cut down by the agent.
fn scope_of(
    bundle: &Bundle,
    grant: Option<&ScopeGrant>,
    narrower: Option<&Narrower>,
) -> Result<Scope, Refused> {
    let default = &bundle.workflow.scope;
    let mut scope = Scope {
        source: ScopeSource::Workflow,
        tools: default.tools.clone(),
        acts: default.acts.clone(),
        targets: BTreeMap::new(),
        limits: default
            .writes
            .map(|writes| ("writes".to_owned(), i64::from(writes)))
            .into_iter()
            .collect(),
    };
    if let Some(grant) = grant {
        scope.source = grant.source;
        widen_within(bundle, &mut scope, grant)?;
    }
    Ok(match narrower {
        Some(narrower) => {
            no_wider(&scope, narrower)?;
            scope.narrowed(narrower)
        }
        None => scope,
    })
}

fn widen_within(bundle: &Bundle, scope: &mut Scope, grant: &ScopeGrant) -> Result<(), Refused> {
    if let Some(tools) = &grant.tools {
        if let Some(beyond) = tools.iter().find(|tool| !scope.tools.contains(*tool)) {
            return Err(
                Refused::denied(ReasonCode::ScopeWidened).saying(format!("tool `{beyond}`"))
            );
        }
        scope.tools.retain(|tool| tools.contains(tool));
    }
    let known =
        |act: &String| bundle.contracts.values().any(|contract| contract.acts.contains_key(act));
    if let Some(unknown) = grant.acts.iter().find(|act| !known(act)) {
        return Err(Refused::denied(ReasonCode::ScopeWidened).saying(format!("act `{unknown}`")));
    }
    scope.acts = grant.acts.clone();
    scope.targets.clone_from(&grant.targets);
    for (limit, cap) in &grant.limits {
        let kept = scope.limits.entry(limit.clone()).or_insert(*cap);
        *kept = (*kept).min(*cap);
    }
    Ok(())
}

/// An agent narrows; asking for more is refused, not ignored, so that nobody believes to have it.
fn no_wider(scope: &Scope, narrower: &Narrower) -> Result<(), Refused> {
    let widened = |what: String| Err(Refused::denied(ReasonCode::ScopeWidened).saying(what));
    if let Some(tool) = narrower.tools.iter().find(|tool| !scope.tools.contains(*tool)) {
        return widened(format!("tool `{tool}`"));
    }
    if let Some(act) = narrower.acts.iter().find(|act| !scope.acts.contains(*act)) {
        return widened(format!("act `{act}`"));
    }
    for (ty, ids) in &narrower.targets {
        if let Some(id) = ids.iter().find(|id| !scope.names(ty, id)) {
            return widened(format!("target `{ty}` `{}`", id.chars().take(64).collect::<String>()));
        }
    }
    for (limit, cap) in &narrower.limits {
        if scope.limits.get(limit).is_some_and(|held| cap > held) {
            return widened(format!("limit `{limit}`"));
        }
    }
    Ok(())
}

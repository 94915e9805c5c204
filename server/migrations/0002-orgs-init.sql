-- Organisations, projects, people, service accounts, keys, the container network policy and the audit log.
-- Ids are text: a prefix and a UUIDv7 in base32, so the primary key is also the order of creation.
create schema if not exists orgs;

create table orgs.organization (
  id text primary key,
  name text not null,
  region text,
  created_at timestamptz not null default clock_timestamp()
);

create table orgs.project (
  id text primary key,
  org_id text not null references orgs.organization,
  name text not null,
  created_at timestamptz not null default clock_timestamp(),
  archived_at timestamptz
);
create index project_of_org on orgs.project (org_id, id);

-- A person, known by one e-mail address in lower case, whatever organisations they belong to.
create table orgs.user (
  id text primary key,
  email text not null unique check (email = lower(email)),
  name text not null,
  created_at timestamptz not null default clock_timestamp()
);

create table orgs.member (
  org_id text not null references orgs.organization,
  user_id text not null references orgs.user,
  role text not null check (role in ('owner', 'reader')),
  added_at timestamptz not null default clock_timestamp(),
  primary key (org_id, user_id)
);
create index member_of_user on orgs.member (user_id);

-- Nobody is in a project without being in its organisation: leaving the one leaves the other.
create table orgs.project_member (
  project_id text not null references orgs.project,
  user_id text not null,
  org_id text not null,
  role text not null check (role in ('owner', 'member')),
  added_at timestamptz not null default clock_timestamp(),
  primary key (project_id, user_id),
  foreign key (org_id, user_id) references orgs.member on delete cascade
);
create index project_member_of_member on orgs.project_member (org_id, user_id);

create table orgs.service_account (
  id text primary key,
  org_id text not null references orgs.organization,
  project_id text not null references orgs.project,
  name text not null,
  role text not null check (role in ('owner', 'member', 'none')),
  created_at timestamptz not null default clock_timestamp(),
  deleted_at timestamptz
);
create index service_account_of_project on orgs.service_account (project_id, id);

-- projects: [{"id", "role"}], what acceptance grants beside the membership of the organisation.
create table orgs.invite (
  id text primary key,
  org_id text not null references orgs.organization,
  email text not null check (email = lower(email)),
  role text not null check (role in ('owner', 'reader')),
  projects jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  deleted_at timestamptz
);
create index invite_of_org on orgs.invite (org_id, id);
create index invite_by_email on orgs.invite (org_id, email);

-- The ads module fills in the rest of an ad account; keys need only that it exists and whose it is.
create table orgs.ad_account (
  id text primary key,
  org_id text not null references orgs.organization,
  created_at timestamptz not null default clock_timestamp()
);
create index ad_account_of_org on orgs.ad_account (org_id, id);

-- A key's value is nowhere: the hash finds it, `redacted` (prefix and last four characters) names it to people.
-- Rows stay after revocation, so that a key id in a log can still be explained.
-- last_used_at changes often and stands in no index; the free space keeps such updates on their page.
create table orgs.api_key (
  id text primary key,
  org_id text not null references orgs.organization,
  project_id text references orgs.project,
  ad_account_id text references orgs.ad_account,
  kind text not null check (kind in ('project', 'service_account', 'admin', 'ads')),
  hash bytea not null unique check (octet_length(hash) = 32),
  name text not null,
  redacted text not null,
  scopes text[],
  user_id text references orgs.user,
  service_account_id text references orgs.service_account,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  replaced_by text references orgs.api_key,
  check ((kind in ('project', 'service_account')) = (project_id is not null)),
  check ((kind = 'ads') = (ad_account_id is not null)),
  check ((kind = 'service_account') = (service_account_id is not null)),
  check (user_id is null or kind in ('project', 'admin'))
) with (fillfactor = 80);
create index api_key_of_org on orgs.api_key (org_id, kind, id);
create index api_key_of_project on orgs.api_key (project_id, id) where project_id is not null;
create index api_key_of_user on orgs.api_key (user_id) where user_id is not null;
create index api_key_of_service_account on orgs.api_key (service_account_id) where service_account_id is not null;

-- The one place that says when a key opens something. Both halves are read apart: lists show `owner_access`.
-- An owner of the organisation has access to every project; an admin key of a person needs an owner.
create view orgs.key_standing as
  select
    k.id, k.org_id, k.project_id, k.ad_account_id, k.kind, k.hash, k.scopes,
    access.owner_access,
    k.revoked_at is null
      and (k.expires_at is null or k.expires_at > clock_timestamp())
      and p.archived_at is null
      and access.owner_access as in_force
  from orgs.api_key k
  left join orgs.project p on p.id = k.project_id
  left join orgs.service_account s on s.id = k.service_account_id
  left join orgs.member m on m.org_id = k.org_id and m.user_id = k.user_id
  left join orgs.project_member pm on pm.project_id = k.project_id and pm.user_id = k.user_id
  cross join lateral (
    select case
      when k.service_account_id is not null then s.role <> 'none' and s.deleted_at is null
      when k.user_id is not null then coalesce(m.role = 'owner', false) or pm.user_id is not null
      else true
    end as owner_access
  ) access;

-- No row means: disabled, no domains, since the organisation exists.
create table orgs.container_network_policy (
  org_id text primary key references orgs.organization,
  type text not null check (type in ('allowlist', 'disabled')),
  allowed_domains text[] not null,
  updated_at timestamptz not null
);

-- Who changed what. Written in the transaction of the change, never a secret in it.
create table orgs.audit_log (
  id text primary key,
  org_id text not null references orgs.organization,
  project_id text references orgs.project,
  type text not null,
  effective_at timestamptz not null default clock_timestamp(),
  actor_kind text not null check (actor_kind in ('api_key', 'session', 'operator')),
  actor_key_id text references orgs.api_key,
  actor_user_id text references orgs.user,
  resource_id text not null,
  request_id text,
  details jsonb not null
);
create index audit_log_of_org on orgs.audit_log (org_id, effective_at, id);

create function orgs.refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only';
end $$;
create trigger audit_log_append_only before update or delete or truncate on orgs.audit_log
  for each statement execute function orgs.refuse_audit_change();

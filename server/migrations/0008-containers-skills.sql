-- Skills and their versions. A version is one zip in blobs and never changes.
create schema if not exists containers;

create table containers.skill (
  id text primary key,
  project_id text not null,
  created_at timestamptz not null default clock_timestamp(),
  default_version integer not null,
  -- The highest that is not deleted.
  latest_version integer not null,
  -- The highest there ever was: numbers are not given twice.
  versions_made integer not null,
  -- Set once, by DELETE. The row stays for a day, so that a client that deletes while it pages can go on from its id.
  ended_at timestamptz
);
create index skill_newest on containers.skill (project_id, created_at desc, id desc) where ended_at is null;
create index skill_ended on containers.skill (ended_at) where ended_at is not null;

create table containers.skill_version (
  id text primary key,
  skill_id text not null references containers.skill (id) on delete cascade,
  version integer not null check (version > 0),
  name text not null,
  description text not null,
  blob text not null unique,
  -- Of the zip.
  bytes bigint not null,
  unpacked_bytes bigint not null,
  files integer not null,
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  -- When the zip was removed.
  cleared_at timestamptz,
  unique (skill_id, version)
);
create index skill_version_to_clear on containers.skill_version (ended_at) where ended_at is not null and cleared_at is null;

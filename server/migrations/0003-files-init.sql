-- Files and uploads. Bytes live in blobs; a file is an ordered list of pieces, so completing a large upload moves no bytes.
create schema files;

create table files.file (
  id text primary key,
  project_id text not null,
  filename text not null,
  purpose text not null,
  bytes bigint not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  -- Set once, by DELETE or by expiry. From then on the file does not exist for anybody; the row stays for a day,
  -- so that a client that deletes while it pages can go on from the id it has just deleted.
  ended_at timestamptz,
  ended_by text check (ended_by in ('deleted', 'expired')),
  cleared_at timestamptz,
  check ((ended_at is null) = (ended_by is null))
);
create index file_newest on files.file (project_id, created_at desc, id desc) where ended_at is null;
create index file_newest_by_purpose on files.file (project_id, purpose, created_at desc, id desc) where ended_at is null;
create index file_due on files.file (expires_at) where ended_at is null and expires_at is not null;
create index file_to_clear on files.file (ended_at) where ended_at is not null and cleared_at is null;
create index file_cleared on files.file (cleared_at) where cleared_at is not null;

create table files.piece (
  file_id text not null references files.file (id),
  position integer not null,
  blob text not null unique,
  bytes bigint not null,
  primary key (file_id, position)
);

create table files.upload (
  id text primary key,
  project_id text not null,
  filename text not null,
  purpose text not null,
  mime_type text not null,
  bytes bigint not null,
  file_expires_seconds integer,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  status text not null default 'pending' check (status in ('pending', 'completed', 'cancelled', 'expired')),
  file_id text references files.file (id) on delete set null,
  cleared_at timestamptz
);
create index upload_due on files.upload (expires_at) where status = 'pending';
create index upload_to_clear on files.upload (id) where status <> 'pending' and cleared_at is null;
create index upload_of_file on files.upload (file_id) where file_id is not null;

create table files.part (
  id text primary key,
  upload_id text not null references files.upload (id),
  blob text not null unique,
  bytes bigint not null,
  created_at timestamptz not null default clock_timestamp()
);
create index part_of_upload on files.part (upload_id);

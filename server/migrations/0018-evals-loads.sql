-- Runs whose rows are not read yet wait for their turn: a project reads a few sources at once. Those that are there have had it.
alter table evals.run add column load_submitted boolean not null default true;
alter table evals.run alter column load_submitted set default false;
create index run_to_load on evals.run (project_id, id) where ended_at is null and not loaded;

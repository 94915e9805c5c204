-- Responses of a project in their order, for evals over them. Built in place: an index of a partitioned table cannot be
-- built concurrently, and no release has had this table.
create index response_of_project on responses.response (project_id, id);

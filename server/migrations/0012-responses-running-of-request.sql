-- migrate: alone
-- Whether a reservation still has a response that will settle it.
create index concurrently if not exists running_of_request on responses.running (request_id);

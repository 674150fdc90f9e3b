// Adds a failed delivery to a webhook endpoint, so that a test need not wait for failures.
import type { TestServer } from "./test-server.ts";

/** Numbers an event of the project and adds its failed delivery. Returns the id of the delivery. */
export async function addFailedDelivery(
  { rows }: Pick<TestServer, "rows">,
  projectId: string,
  endpointId: string,
): Promise<string> {
  const [added] = await rows<{ id: string }>(
    `with counted as (
       update event_streams set last_number = last_number + 1 where project_id = $1 returning last_number
     ), logged as (
       insert into event_log (project_id, number, id, type, data, created_at)
       select $1, last_number, new_id(), 'order placed', '{}', now() from counted returning number
     ), passed as (
       update webhook_endpoints set position = (select number from logged) where project_id = $1 and id = $2
     )
     insert into event_deliveries (project_id, id, endpoint_id, number, previous, state, tries, due_at, ended_at, response_status,
       response_body, error, duration_ms)
     select $1, new_id(), $2, number, 0, 'failed', 20, null, now(), 500, 'broken', 'The endpoint responded with 500.', 12
     from logged returning id`,
    projectId,
    endpointId,
  );
  return added?.id ?? "";
}

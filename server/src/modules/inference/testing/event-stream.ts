import type { TestApp } from '../../../../test/test-app.ts'

/** What a client reads of a stream: the data of each record, and the name where it has one. */
export interface ReadEvent {
  readonly event: string | null
  readonly data: string
}

export function eventsIn(text: string): ReadEvent[] {
  const records = text.split('\n\n').filter((record) => /^(event|data):/m.test(record))
  return records.map((record) => ({
    event: /^event: (.*)$/m.exec(record)?.[1] ?? null,
    data: [...record.matchAll(/^data: (.*)$/gm)].map(([, line]) => line).join('\n'),
  }))
}

/** Posts and leaves the reply to be read. */
export function post(app: TestApp, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  return fetch(`${app.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.project.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
}

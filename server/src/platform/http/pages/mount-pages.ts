import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ProjectId } from '@switchyard/contracts/ids.ts'
import { Fault } from '#platform/errors/fault.ts'
import { isStorable } from '#platform/std/storable-text.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { Tracing } from '#platform/telemetry/trace.ts'
import type { ServedRequest } from '../access-log.ts'
import { announcesBody } from '../linger.ts'
import { beginFault } from '../send-fault.ts'
import { noSuchPath } from '../unknown-path.ts'
import { createFrame, type Frame } from './frame.ts'
import { html, type Html } from './html.ts'
import type { Page, ShownPage } from './page.ts'
import type { Reader, Sessions } from './sessions.ts'
import { homePath, placeAfter, signInForm, signInPath } from './sign-in.ts'

export interface PagesUse {
  readonly pages: readonly Page[]
  readonly sessions: Sessions
  readonly projectName: (id: ProjectId) => Promise<string | null>
  /** Where people reach this deployment. */
  readonly publicUrl: string
}

interface MountPagesUse extends PagesUse {
  readonly log: Log
  readonly tracing: Pick<Tracing, 'spanFrom'>
}

interface Ready extends MountPagesUse {
  readonly frame: Frame
}

/** Of a form: a key and where to go next. */
const formBytesMax = 4_096
const formType = 'application/x-www-form-urlencoded'

/** Pages live beside the operations of the API, with bodies, errors and sign-in of their own. */
export function mountPages(app: FastifyInstance, given: MountPagesUse): void {
  const use: Ready = { ...given, frame: createFrame() }
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(formType, { parseAs: 'string', bodyLimit: formBytesMax }, (_request, text, done) =>
      done(null, new URLSearchParams(text as string)),
    )
    scope.setErrorHandler((error, request, reply) => {
      const fault = beginFault(error, request, reply, use.log)
      send(use, reply, fault.status, faultPage(fault.status, fault.body.error.message), null)
    })
    for (const page of use.pages) mountPage(scope, page, use)
    mountSignIn(scope, use)
    mountPage(scope, { id: 'pages.home', path: '/dashboard/', needs: '', show: async () => home }, use)
    mountPage(scope, { id: 'pages.unknown', path: '/dashboard/*', needs: '', show: unknown }, use)
  })
}

const unknown = async (): Promise<never> => {
  throw noSuchPath()
}

const home: ShownPage = {
  title: 'Dashboard',
  main: html`<section class="sign-in">
    <h1>You are signed in</h1>
    <p>Open the <code>report_url</code> of a run to see its results.</p>
  </section>`,
}

const titles: Record<number, string> = { 403: 'Not allowed', 404: 'Not found', 503: 'Busy' }

function faultPage(status: number, message: string): { title: string; main: Html } {
  const title = titles[status] ?? (status < 500 ? 'This did not work' : 'Something went wrong')
  return {
    title,
    main: html`<section class="sign-in">
      <h1>${title}</h1>
      <p>${message}</p>
    </section>`,
  }
}

function send(
  use: Ready,
  reply: FastifyReply,
  status: number,
  { title, main }: { title: string; main: Html },
  project: string | null,
): void {
  void reply.code(status).headers(use.frame.headers).send(use.frame.document({ title, main, project }))
}

function mountPage(scope: FastifyInstance, page: Page, use: Ready): void {
  scope.route({
    method: 'GET',
    url: page.path.replaceAll(/\{([^}]+)\}/g, ':$1'),
    onRequest: (request, _reply, done) => begin(page.id, request, done),
    handler: (request, reply) =>
      use.tracing.spanFrom(request.headers, page.id, { 'http.request_id': request.id }, () =>
        showPage(page, request, reply, use),
      ),
  })
}

function begin(id: string, request: FastifyRequest, done: () => void): void {
  ;(request as ServedRequest).operation = id
  // Where there is no body, its type is nothing to refuse.
  if (!announcesBody(request.raw)) delete request.headers['content-type']
  done()
}

async function showPage(page: Page, request: FastifyRequest, reply: FastifyReply, use: Ready): Promise<FastifyReply> {
  const reader = await readerOf(request, use.sessions)
  if (reader === null) return askToSignIn(request, reply, use)
  const { scope, granted } = reader
  ;(request as ServedRequest).scope = scope
  const project = (await use.projectName(scope.projectId)) ?? scope.projectId
  try {
    if (page.needs !== '' && granted !== null && !granted.has(page.needs)) {
      throw new Fault('insufficient_permissions', `The key that you signed in with lacks the scope ${page.needs}.`)
    }
    const params = request.params as Record<string, string>
    // An id that cannot be stored cannot exist.
    if (!Object.values(params).every(isStorable)) throw noSuchPath()
    const shown = await page.show({ scope, params, query: new URLSearchParams(request.query as string) })
    if ('location' in shown) return await reply.redirect(shown.location, 303)
    if (shown.refreshSeconds !== undefined) reply.header('refresh', String(shown.refreshSeconds))
    send(use, reply, 200, shown, project)
  } catch (error) {
    const fault = beginFault(error, request, reply, use.log)
    send(use, reply, fault.status, faultPage(fault.status, fault.body.error.message), project)
  }
  return reply
}

/** By the cookie of the sign-in, or by the key itself, as the API takes it. */
async function readerOf({ headers }: FastifyRequest, sessions: Sessions): Promise<Reader | null> {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
  return bearer === undefined ? await sessions.byCookie(headers.cookie) : await sessions.byKey(bearer)
}

/** The same form at every address, whether or not there is something to see. */
function askToSignIn(request: FastifyRequest, reply: FastifyReply, use: Ready): FastifyReply {
  // Browsers keep a strict cookie to themselves when a link on another site leads here. Asked again from our own page,
  // they bring it.
  if (request.headers['sec-fetch-site'] === 'cross-site') reply.header('refresh', '0')
  reply.header('www-authenticate', 'Bearer realm="Switchyard"')
  send(use, reply, 401, { title: 'Sign in', main: signInForm(placeAfter(request.url), false) }, null)
  return reply
}

function mountSignIn(scope: FastifyInstance, use: Ready): void {
  const onRequest = (id: string) => (request: FastifyRequest, _reply: FastifyReply, done: () => void) =>
    begin(id, request, done)
  const secure = (request: FastifyRequest) => request.protocol === 'https' || use.publicUrl.startsWith('https:')
  scope.get(signInPath, { onRequest: onRequest('pages.sign_in_form') }, async (_request, reply) => {
    send(use, reply, 200, { title: 'Sign in', main: signInForm(homePath, false) }, null)
    return reply
  })
  scope.post(signInPath, { onRequest: onRequest('pages.sign_in') }, async (request, reply) => {
    refuseForeignForm(request, use.publicUrl)
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
    const next = placeAfter(form.get('next'))
    const reader = await use.sessions.byKey((form.get('key') ?? '').trim())
    if (reader === null) {
      send(use, reply, 401, { title: 'Sign in', main: signInForm(next, true) }, null)
      return reply
    }
    ;(request as ServedRequest).scope = reader.scope
    reply.header('cache-control', 'no-store')
    return reply.header('set-cookie', use.sessions.cookieFor(reader, secure(request))).redirect(next, 303)
  })
  scope.post('/dashboard/sign-out', { onRequest: onRequest('pages.sign_out') }, async (request, reply) => {
    refuseForeignForm(request, use.publicUrl)
    return reply.header('set-cookie', use.sessions.endCookie(secure(request))).redirect(signInPath, 303)
  })
}

/** A form of another site may not sign anyone in or out. */
function refuseForeignForm({ headers }: FastifyRequest, publicUrl: string): void {
  const { origin, host, 'sec-fetch-site': site } = headers
  if (typeof site === 'string' ? site === 'same-origin' : isOurs(origin, host, publicUrl)) return
  throw new Fault('insufficient_permissions', 'This form was not sent from a page of this server.')
}

function isOurs(origin: string | undefined, host: string | undefined, publicUrl: string): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false
  const given = new URL(origin)
  return given.host === host || (URL.canParse(publicUrl) && given.origin === new URL(publicUrl).origin)
}

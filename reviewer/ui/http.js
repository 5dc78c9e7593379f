// Talking to the server: one place that knows how a refusal looks and what "cannot be reached" means.

/** The server understood and said no. `kind` is stable, `message` is for the person. */
export class Refused extends Error {
  constructor(status, body) {
    super(body?.error ?? `the server answered ${status}`)
    this.status = status
    this.kind = body?.kind ?? 'error'
    this.detail = body?.detail ?? {}
  }
}

/** No answer: server gone, network cut. What was sent may or may not have arrived, so send it again with the same key. */
export class Unreachable extends Error {
  constructor() {
    super('The server cannot be reached. Your text is kept on this page and will be sent again.')
  }
}

async function call(path, options) {
  let response
  try {
    response = await fetch(path, { credentials: 'same-origin', ...options })
  } catch {
    throw new Unreachable()
  }
  if (response.status === 401) location.assign('/sign-in')
  if (!response.ok) {
    let body = null
    try { body = await response.json() } catch { /* a proxy's own error page */ }
    throw new Refused(response.status, body)
  }
  return response
}

export const getJSON = async (path) => (await call(path)).json()
export const getBytes = async (path) => (await call(path)).arrayBuffer()
/** A short body is sent even while its page is being closed; browsers let only 64 KiB go that way. */
function sent(body) {
  const text = JSON.stringify(body)
  return { body: text, keepalive: text.length < 20_000 }
}

export const postJSON = async (path, body) =>
  (await call(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, ...sent(body) })).json()

export const postForm = async (path, form) => (await call(path, { method: 'POST', body: form })).json()
export const remove = async (path) => { await call(path, { method: 'DELETE' }) }

/** A key that makes a submit happen once, however often it is sent. Made when the form is drawn. */
export const newKey = () => crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('')

/** Send again on Unreachable until it arrives or is refused; `onWait` hears of each failed try. */
export async function postUntilHeard(path, body, onWait, wait = 2000) {
  for (;;) {
    try {
      return await postJSON(path, body)
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
      onWait(error)
      await new Promise((done) => setTimeout(done, wait))
    }
  }
}

// Talking to the server: one place that knows how a refusal looks and what "does not answer" means.

/** The server understood and said no. `kind` is stable, `message` is for the person. */
export class Refused extends Error {
  constructor(status, body) {
    super(body?.error ?? `the server answered ${status}`)
    this.status = status
    this.kind = body?.kind ?? 'error'
    this.detail = body?.detail ?? {}
  }

  /** What was refused may be taken later as it is: the disk was full, another program held the file, nobody was signed in. */
  get passes() {
    return this.kind === 'store' || this.kind in AWAY
  }
}

/** No answer: server gone, network cut. What was sent may or may not have arrived, so send it again with the same key. */
export class Unreachable extends Error {
  constructor() {
    super('The server does not answer. What you wrote is kept and is sent when it is back.')
  }
}

/** Tells after each call whether there is a server for this page: 'heard', 'unreachable', 'signed-out' or 'somebody-else'. */
export const line = new EventTarget()

const AWAY = { signed_out: 'signed-out', other_person: 'somebody-else' }
const PATIENCE = 20_000 // ms for what is sent again anyway; a cable that was pulled is not told by the network
const PROXYS_OWN = [502, 503, 504] // a proxy that found no server behind it

let initials = null

/** Whose page this is. The server does nothing for it once somebody else has signed in in this browser. */
export const speakFor = (who) => {
  initials = who
}

const report = (state, message) => line.dispatchEvent(new CustomEvent('became', { detail: { state, message } }))

async function call(path, { headers, ...options } = {}) {
  let response
  try {
    response = await fetch(path, {
      credentials: 'same-origin',
      headers: { ...headers, ...(initials && { 'X-Spec-O3-Person': encodeURIComponent(initials) }) },
      ...options,
    })
  } catch {
    report('unreachable')
    throw new Unreachable()
  }
  if (response.ok) {
    report('heard')
    return response
  }
  const body = await response.json().catch(() => null)
  if (!body?.kind && PROXYS_OWN.includes(response.status)) {
    report('unreachable')
    throw new Unreachable()
  }
  const refused = new Refused(response.status, body)
  report(AWAY[refused.kind] ?? 'heard', refused.message)
  throw refused
}

export const getJSON = async (path) => (await call(path)).json()
export const getText = async (path) => (await call(path)).text()
export const getBytes = async (path) => (await call(path)).arrayBuffer()

/** A short body is sent even while its page is being closed; browsers let only 64 KiB go that way. */
function sent(body) {
  const text = JSON.stringify(body)
  return { body: text, keepalive: text.length < 20_000 }
}

/** @param {{patience?: number | null}} options  ms after which no answer is no answer; null: as long as it takes */
export const postJSON = async (path, body, { patience = null } = {}) =>
  (
    await call(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      ...sent(body),
      ...(patience && { signal: AbortSignal.timeout(patience) }),
    })
  ).json()

/** For what does no harm when it arrives twice. */
export const postSoon = (path, body) => postJSON(path, body, { patience: PATIENCE })

export const postForm = async (path, form) => (await call(path, { method: 'POST', body: form })).json()
export const remove = async (path) => {
  await call(path, { method: 'DELETE' })
}

/** A key that makes a submit happen once, however often it is sent. Made when the form is drawn. */
export const newKey = () =>
  crypto.randomUUID?.() ??
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('')

/** Send again on Unreachable until it arrives or is refused; `onWait` hears of each failed try. */
export async function postUntilHeard(path, body, onWait, wait = 2000) {
  for (;;) {
    try {
      return await postSoon(path, body)
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
      onWait(error)
      await new Promise((done) => setTimeout(done, wait))
    }
  }
}

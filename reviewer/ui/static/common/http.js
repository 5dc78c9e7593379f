// Requests to the server, and the errors for a refusal and for a server that does not answer.

import { address } from './address.js'
import { t } from './language.js'

/** The server understood the request and refused it. `kind` is stable, `message` is for the person. */
export class Refused extends Error {
  /** @param {number} status @param {{error?: string, kind?: string, detail?: any} | null} body */
  constructor(status, body) {
    super(body?.error ?? t('the server answered {status}', { status }))
    this.status = status
    this.kind = body?.kind ?? 'error'
    this.detail = body?.detail ?? {}
  }

  /** Whether the same request may succeed later: the disk was full, the file locked, nobody signed in. */
  get temporary() {
    return this.kind === 'store' || this.kind in CONNECTION_STATES
  }
}

/** No answer: server down, network cut. The request may have arrived, so it is repeated with the same key. */
export class Unreachable extends Error {
  constructor() {
    super(t('The server does not answer. What you wrote is kept and is sent when it answers again.'))
  }
}

/** "changed" after each request, with `detail.state`: "connected", "unreachable", "signed-out" or "other-person". */
export const connection = new EventTarget()

/** @type {Record<string, string>} by kind of refusal */
const CONNECTION_STATES = { signed_out: 'signed-out', other_person: 'other-person' }
const TIMEOUT = 20_000 // ms, for requests that are repeated; the network does not report a pulled cable
const PROXY_ERRORS = [502, 503, 504] // of a proxy with no server behind it

/** @type {string | null} */
let initials = null

/** Set the person of this page. The server refuses its requests once another person has signed in in this browser. */
export const setPerson = (/** @type {string} */ person) => void (initials = person)

/** @param {string} state @param {string} [message] */
const report = (state, message) => connection.dispatchEvent(new CustomEvent('changed', { detail: { state, message } }))

/** @param {string} path @param {RequestInit} options */
async function request(path, { headers, ...options } = {}) {
  const person = initials && { 'X-Spec-O3-Person': encodeURIComponent(initials) }
  const response = await fetch(address(path), { headers: { ...headers, ...person }, ...options }).catch(() => null)
  if (response?.ok) {
    report('connected')
    return response
  }
  const body = await response?.json().catch(() => null)
  if (!response || (!body?.kind && PROXY_ERRORS.includes(response.status))) {
    report('unreachable')
    throw new Unreachable()
  }
  const refused = new Refused(response.status, body)
  report(CONNECTION_STATES[refused.kind] ?? 'connected', refused.message)
  throw refused
}

/** @param {string} path @returns {Promise<any>} */
export const getJSON = async (path) => (await request(path)).json()
/** @param {string} path */
export const getBytes = async (path) => (await request(path)).arrayBuffer()

/**
 * @param {string} path @param {any} body
 * @param {{timeout?: number | null}} options ms until the request fails; null: no limit
 * @returns {Promise<any>}
 */
export const postJSON = async (path, body, options = {}) => (await post(path, body, options)).json()

/** @param {string} path @param {any} body */
export const postBytes = async (path, body) => (await post(path, body)).arrayBuffer()

/** @param {string} path @param {any} body @param {{timeout?: number | null}} options */
function post(path, body, { timeout = null } = {}) {
  const text = JSON.stringify(body)
  return request(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: text,
    keepalive: text.length < 20_000, // sent even while the page is being closed; browsers allow 64 KiB in all
    ...(timeout && { signal: AbortSignal.timeout(timeout) }),
  })
}

/** POST a request that may safely arrive twice. @param {string} path @param {any} body */
export const postRepeatable = (path, body) => postJSON(path, body, { timeout: TIMEOUT })

/** @param {string} path @param {FormData} form @returns {Promise<any>} */
export const postForm = async (path, form) => (await request(path, { method: 'POST', body: form })).json()

/** @param {string} path */
export const remove = async (path) => void (await request(path, { method: 'DELETE' }))

/** An idempotency key: a submission with it happens once, however often it is sent. */
export const newKey = () =>
  crypto.randomUUID?.() ??
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Sign in, in the session of this browser. @param {string} person @param {string} password @throws {Refused} */
export const signIn = async (person, password) => {
  const body = new URLSearchParams({ initials: person, password })
  await request('/sign-in', { method: 'POST', headers: { Accept: 'application/json' }, body })
}

/** Ask whether the server answers this person; any request reports it on `connection`. */
export const checkServer = () => void getJSON('/api/v1/me').catch(() => {})

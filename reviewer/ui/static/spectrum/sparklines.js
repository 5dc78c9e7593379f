// A spectrum as a small line in a row of a list. The server draws it, once.

import { getJSON } from '../common/http.js'
import { svg } from './marks.js'

const MOST = 100 // keys of a request: proxies refuse addresses longer than 8 kB

/** @type {Map<string, Promise<string>>} */
const paths = new Map()
/** @type {Map<string, (path: string) => void>} keys of the next request */
const requested = new Map()

/**
 * A box of fixed size, filled when the answer comes.
 * @param {string | null} key `spectrum` of a row, or "template:" and the id of a template; null: it stays empty
 */
export function sparkline(key) {
  const line = svg('path')
  const size = { viewBox: '0 0 120 24', preserveAspectRatio: 'none' }
  const box = svg('svg', { class: 'sparkline', ...size, 'aria-hidden': 'true' }, line)
  if (key) pathOf(key).then((path) => line.setAttribute('d', path))
  return box
}

/** @param {string} key */
function pathOf(key) {
  const known = paths.get(key)
  if (known) return known
  if (!requested.size) queueMicrotask(load)
  /** @type {Promise<string>} */
  const path = new Promise((resolve) => requested.set(key, resolve))
  paths.set(key, path)
  return path
}

/** Load what rows need since the last request. */
async function load() {
  const waiting = [...requested]
  requested.clear()
  while (waiting.length) {
    const some = waiting.splice(0, MOST)
    const keys = some.map(([key]) => encodeURIComponent(key)).join(',')
    const { sparklines } = await getJSON(`/api/v1/sparklines?of=${keys}`).catch(() => ({ sparklines: {} }))
    for (const [key, resolve] of some) {
      if (!(key in sparklines)) paths.delete(key) // the next row requests it again
      resolve(sparklines[key] ?? '')
    }
  }
}

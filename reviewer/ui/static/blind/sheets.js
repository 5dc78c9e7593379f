// The sheets of a blind session: what is asked, by token, fetched once and before it is asked for. The server sends no
// other name of anything, so there is none here either.

import { lasting } from '../common/browser_storage.js'
import { Refused, getJSON, newKey } from '../common/http.js'
import { idle } from '../common/idle.js'
import { getSpectrum } from '../common/data.js'
import { prepare } from '../spectrum/scene.js'

const KEPT = 12

export class Sheets {
  constructor() {
    this.kept = new Map()
  }

  /** Everything that is painted at once: {sheet, traces, spectrum | null, atlas}. */
  whole(token) {
    if (!this.kept.has(token)) {
      const promise = fetchWhole(token)
      promise.catch(() => this.kept.delete(token))
      this.kept.set(token, promise)
      if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value)
    }
    return this.kept.get(token)
  }

  /** An answer was given: the next look asks the server what it has. */
  stale(token) {
    this.kept.delete(token)
  }

  /** Have a sheet here, with its pictures, before it is opened. */
  async prefetch(token) {
    try {
      await idle()
      const { spectrum, traces } = await this.whole(token)
      await idle()
      if (spectrum) prepare(spectrum)
      for (const trace of traces)
        for (const step of trace.steps) if (step.picture) new Image().src = trace.pictureURL(step)
    } catch {
      // opening it will tell what is wrong
    }
  }
}

async function fetchWhole(token) {
  const under = `/api/blind/sheet/${token}`
  const [sheet, spectrum, atlas] = await Promise.all([getJSON(under), spectrumOf(under), getJSON(`${under}/atlas`)])
  const sides = sheet.kind === 'pair' ? ['left', 'right'] : ['']
  return {
    sheet,
    spectrum,
    atlas,
    traces: sheet.traces.map((trace, at) => asTrace(trace, sides[at], `${under}/picture/${at}`)),
  }
}

async function spectrumOf(under) {
  try {
    return await getSpectrum(`${under}/spectrum`)
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null // only pictures came
    throw error
  }
}

/** A trace as `TraceView` draws it. Of a pair the ids of its steps tell the side, so that both can be on the page. */
function asTrace(trace, side, pictures) {
  return {
    side,
    steps: trace.steps.map((step) => asStep(step, side)),
    overviewURL: trace.overview === null ? null : `${pictures}/${trace.overview}`,
    pictureURL: (step) => `${pictures}/${step.picture}`,
  }
}

function asStep({ id, kind, text, ...more }, side) {
  const own = side ? `${side}-${id}` : id
  if (kind === 'think') return { id: own, kind, text }
  if (kind === 'answer') return { id: own, kind, verdict: more.verdict, explanation: text }
  const { window, frame, z, medium, observation, ok } = more
  // Picture 0 is a picture: as text it counts as one.
  return {
    id: own,
    kind,
    arguments: { wavelength_range: window, label: text },
    frame,
    z,
    medium,
    observation,
    ok,
    picture: more.picture === null ? null : String(more.picture),
  }
}

export const CANNOT_TELL = 'cannot tell'

export class Answer {
  /**
   * @param {string} who  initials: two people may share a browser
   * @param {Object} sheet  with the answer that the server has, if any
   */
  constructor(who, sheet) {
    this.place = `so-blind ${who} ${sheet.token}`
    this.pair = sheet.kind === 'pair'
    this.heard = this.#plain(sheet.mine ?? {})
    const kept = lasting.read(this.place)
    this.said = { ...(kept?.said ?? this.heard) }
    this.sent = kept?.sent ?? null // what was last sent, and under which key
    this.restored = kept !== null && this.changed
  }

  #plain(mine) {
    const { coherence = null, consistency = null, preference = null, comment = '', wrong_steps = [] } = mine
    return this.pair ? { preference, comment } : { coherence, consistency, comment, wrong_steps: [...wrong_steps] }
  }

  /** Whether the server has something else, or nothing. */
  get changed() {
    return JSON.stringify(this.said) !== JSON.stringify(this.heard)
  }

  get complete() {
    return this.pair ? this.said.preference !== null : this.said.coherence !== null && this.said.consistency !== null
  }

  set(change) {
    Object.assign(this.said, change)
    if (this.changed) this.#keep()
    else lasting.remove(this.place)
  }

  toggleWrong(step) {
    const { wrong_steps: wrong } = this.said
    this.set({ wrong_steps: wrong.includes(step) ? wrong.filter((one) => one !== step) : [...wrong, step] })
  }

  /** What to send. The same answer goes under the same key however often it is sent; another one gets a new key. */
  body() {
    const text = JSON.stringify(this.said)
    if (this.sent?.text !== text) this.sent = { text, key: newKey() }
    this.#keep()
    const { coherence, consistency, ...rest } = this.said
    const scores = this.pair ? {} : { coherence: number(coherence), consistency: number(consistency) }
    return { ...rest, ...scores, key: this.sent.key }
  }

  /** The server has taken what was sent under this text. */
  taken(text) {
    this.heard = JSON.parse(text)
    if (!this.changed) lasting.remove(this.place)
  }

  #keep() {
    lasting.set(this.place, JSON.stringify({ said: this.said, sent: this.sent }))
  }
}

const number = (score) => (score === CANNOT_TELL ? null : score)

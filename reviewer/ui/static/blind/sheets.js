// The sheets of a blind session by token, fetched once and ahead, and the answer to the sheet shown. The server sends
// nothing that identifies an item.

import { address } from '../common/address.js'
import { lasting } from '../common/browser_storage.js'
import { Refused, getJSON, newKey } from '../common/http.js'
import { idle } from '../common/idle.js'
import { Cache, getSpectrum } from '../common/data.js'
import { prepare } from '../spectrum/scene.js'

export class Sheets {
  #sheets = new Cache(12)

  /** Load everything that a sheet shows. @param {string} token @returns {Promise<LoadedSheet>} */
  load(token) {
    return this.#sheets.get(token, () => loadSheet(token))
  }

  /** An answer was given: fetch the sheet again when it is next opened. @param {string} token */
  drop(token) {
    this.#sheets.drop(token)
  }

  /** Fetch a sheet with its pictures before it is opened. @param {string} token */
  async prefetch(token) {
    try {
      await idle()
      const { spectrum, traces } = await this.load(token)
      await idle()
      if (spectrum) prepare(spectrum)
      for (const trace of traces)
        for (const step of trace.steps) if (step.picture) new Image().src = trace.pictureURL(step)
    } catch {
      // The error is reported when the sheet is opened.
    }
  }
}

/** @typedef {Awaited<ReturnType<typeof loadSheet>>} LoadedSheet */
/** @param {string} token */
async function loadSheet(token) {
  const under = address(`/api/v1/blind/sheet/${token}`)
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
    if (error instanceof Refused && error.status === 404) return null // a sheet with pictures only
    throw error
  }
}

/** A trace for `TraceView`. In a pair the step ids begin with the side, so that both traces can be on the page. */
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
  const { window, picture, ...zoom } = more
  // Picture 0 is a picture: as text it counts as one.
  const shown = picture === null ? null : String(picture)
  return { ...zoom, id: own, kind, arguments: { wavelength_range: window, label: text }, picture: shown }
}

/**
 * The places of a session that can be opened: the first one without an answer, and the last few before it, whose
 * answers can be changed. The server has the same rule. `first` is one after the last if all are answered.
 * @param {SheetPlace[]} places in order @returns {{first: number, from: number, changeable: number}} numbers of places
 */
export function openPlaces(places) {
  const present = places.find((place) => !place.answered)
  const last = places[places.length - 1]
  const first = present ? present.place : last.place + 1
  const { changeable } = present ?? last
  return { first, from: first - changeable, changeable }
}

/** Whether a place can be opened now. @param {SheetPlace[]} places @param {SheetPlace} place */
export function canOpen(places, place) {
  const { first, from } = openPlaces(places)
  return place.place >= from && place.place <= first
}

export const CANNOT_TELL = 'cannot tell'

export class Answer {
  /**
   * @param {string} who  initials: two people may share a browser
   * @param {Sheet} sheet  with the answer that the server has, if any
   */
  constructor(who, sheet) {
    this.name = `so-blind ${who} ${sheet.token}`
    this.pair = sheet.kind === 'pair'
    this.onServer = this.#plain(sheet.mine ?? {})
    const stored = lasting.read(this.name)
    this.values = { ...(stored?.values ?? stored?.['said'] ?? this.onServer) }
    this.sent = stored?.sent ?? null // the answer that was sent last, and its key
    this.restored = stored !== null && this.changed
  }

  #plain(mine) {
    const { coherence = null, consistency = null, preference = null, comment = '', wrong_steps = [] } = mine
    return this.pair ? { preference, comment } : { coherence, consistency, comment, wrong_steps: [...wrong_steps] }
  }

  /** Whether the answer differs from the one on the server. */
  get changed() {
    return JSON.stringify(this.values) !== JSON.stringify(this.onServer)
  }

  get complete() {
    const { preference, coherence, consistency } = this.values
    return this.pair ? preference !== null : coherence !== null && consistency !== null
  }

  set(change) {
    Object.assign(this.values, change)
    if (this.changed) this.#store()
    else lasting.remove(this.name)
  }

  toggleWrong(step) {
    const { wrong_steps: wrong } = this.values
    this.set({ wrong_steps: wrong.includes(step) ? wrong.filter((id) => id !== step) : [...wrong, step] })
  }

  /** The request body. The same answer keeps its key however often it is sent; another answer gets a new key. */
  body() {
    const text = JSON.stringify(this.values)
    if (this.sent?.text !== text) this.sent = { text, key: newKey() }
    this.#store()
    const { coherence, consistency, ...rest } = this.values
    const scores = this.pair ? {} : { coherence: number(coherence), consistency: number(consistency) }
    return { ...rest, ...scores, key: this.sent.key }
  }

  /** The server has accepted this answer. @param {string} text */
  saved(text) {
    this.onServer = JSON.parse(text)
    if (!this.changed) lasting.remove(this.name)
  }

  #store() {
    lasting.set(this.name, JSON.stringify({ values: this.values, sent: this.sent }))
  }
}

const number = (score) => (score === CANNOT_TELL ? null : score)

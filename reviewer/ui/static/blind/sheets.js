// The sheets of a blind session: what is asked, by token, fetched once and before it is asked for. The server sends no
// other name of anything, so there is none here either.

import { Refused, getBytes, getJSON } from '../common/http.js'
import { idle } from '../common/idle.js'
import { unpackSpectrum } from '../review/items.js'
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
    return unpackSpectrum(await getBytes(`${under}/spectrum`))
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

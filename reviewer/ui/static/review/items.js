// Items and spectra by id: fetched once, kept for a while, and fetched before they are asked for.

import { getBytes, getJSON } from '../common/http.js'
import { idle, pause } from '../common/idle.js'
import { prepare } from '../spectrum/scene.js'

/** Between two pictures fetched ahead, ms: the server draws each in a tenth of a second, and whoever waits for an answer goes first. */
const BETWEEN_PICTURES = 60

/** A spectrum as the server packs it: uint32 header length, JSON header, then the arrays (see payload.py). */
export function unpackSpectrum(buffer) {
  const length = new DataView(buffer).getUint32(0, true)
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)))
  const { n } = header
  let at = 4 + length
  const take = (kind) => {
    const array = new kind(buffer, at, n)
    at += array.byteLength
    return array
  }
  const [wavelength, ivar, flux, mask] = [Float64Array, Float64Array, Float32Array, Uint8Array].map(take)
  return { ...header, wavelength, flux, ivar, mask }
}

/** Keeps what was used last; promises, so that two who ask for the same thing wait for one answer. */
class Kept {
  constructor(room) {
    this.room = room
    this.map = new Map()
  }

  get(key, make) {
    const known = this.map.get(key)
    if (known) {
      this.map.delete(key)
      this.map.set(key, known)
      return known
    }
    const promise = make()
    this.map.set(key, promise)
    promise.catch(() => this.map.delete(key))
    while (this.map.size > this.room) this.map.delete(this.map.keys().next().value)
    return promise
  }

  has(key) {
    return this.map.has(key)
  }

  drop(key) {
    this.map.delete(key)
  }
}

export class Items {
  /** @param {() => boolean} verdictFirst  whether the answer is to be held back until the person has judged */
  constructor(verdictFirst) {
    this.verdictFirst = verdictFirst
    this.items = new Kept(40)
    this.spectra = new Kept(24)
    this.atlases = new Kept(40)
    this.hints = new Kept(40)
    this.templates = new Kept(20)
    this.pictures = new Kept(40)
  }

  #asked = () => (this.verdictFirst() ? '?verdict_first=true' : '')

  spectrum(sha256) {
    return this.spectra.get(sha256, async () => unpackSpectrum(await getBytes(`/api/spectrum/${sha256}`)))
  }

  atlas(survey, task) {
    const query = new URLSearchParams({ survey, task })
    return this.atlases.get(String(query), () => getJSON(`/api/atlas?${query}`))
  }

  template(task) {
    return this.templates.get(task, () => getJSON(`/api/template?${new URLSearchParams({ task })}`))
  }

  /** Everything that is painted at once: {item, spectrum | null, atlas}. */
  whole(id) {
    return this.items.get(id, async () => {
      const item = await getJSON(`/api/item/${id}${this.#asked()}`)
      const { spectrum, survey, task } = item.row
      const [data, atlas] = await Promise.all([spectrum ? this.spectrum(spectrum) : null, this.atlas(survey, task)])
      return { item, spectrum: data, atlas }
    })
  }

  hintsOf(id, stamp) {
    return this.hints.get(`${id}/${stamp}`, async () => (await getJSON(`/api/item/${id}/hints`)).hints)
  }

  history = (id) => getJSON(`/api/item/${id}/history${this.#asked()}`)

  /** Something happened to the item: the next look asks the server again. The spectrum never changes. */
  stale(id) {
    this.items.drop(id)
  }

  forgetAll() {
    this.items = new Kept(40)
  }

  /**
   * Fetch what is likely to be opened soon, dearest first: the items with their spectra, then their hints, then their
   * pictures, one at a time and while the browser is idle. Ends early once `signal` is aborted.
   */
  async prefetch(ids, picturesOf, signal) {
    try {
      const items = []
      for (const id of ids) {
        await whenFree(signal)
        const { item, spectrum } = await this.whole(id)
        items.push(item)
        await whenFree(signal)
        if (spectrum) prepare(spectrum)
      }
      for (const item of items) {
        await whenFree(signal)
        await this.hintsOf(item.id, item.stamp)
        for (const url of picturesOf(item)) await this.#picture(url, signal)
      }
    } catch {
      // another item was opened, or this one's own opening will tell what is wrong
    }
  }

  /** Have the browser hold a picture, so that its card is whole the moment it is shown. */
  async #picture(url, signal) {
    if (this.pictures.has(url)) return
    await pause(BETWEEN_PICTURES)
    await whenFree(signal)
    await this.pictures.get(url, () => loaded(url, signal))
  }
}

async function whenFree(signal) {
  await idle()
  signal.throwIfAborted()
}

function loaded(url, signal) {
  return new Promise((done, failed) => {
    const image = new Image()
    image.onload = image.onerror = () => done(image) // its card tells what is wrong with it
    signal.addEventListener(
      'abort',
      () => {
        if (!image.complete) image.src = ''
        failed(signal.reason)
      },
      { once: true },
    )
    image.src = url
  })
}

/** Where a step's picture is served. Named by its pixels, so the browser may keep it for ever. */
export function pictureURL(trajectory, picture, args) {
  if (!picture) return null
  const query = new URLSearchParams({ arguments: JSON.stringify(args) })
  if (trajectory.spectrum.sha256) query.set('spectrum', trajectory.spectrum.sha256)
  if (trajectory.redshift !== null) query.set('redshift', String(trajectory.redshift))
  return `/api/picture/${picture}?${query}`
}

export const picturesOf = (trajectory) => [
  ...trajectory.steps.filter((s) => s.picture).map((s) => pictureURL(trajectory, s.picture, s.arguments)),
]

// Items of the queue with their spectra: fetched once, kept for a while, and fetched ahead.

import { address } from '../common/address.js'
import { Cache, getAtlas, getSpectrum } from '../common/data.js'
import { stateName } from '../common/filters.js'
import { getJSON } from '../common/http.js'
import { idle, pause } from '../common/idle.js'
import { t } from '../common/language.js'
import { prepare } from '../spectrum/scene.js'

/**
 * Between two pictures fetched ahead, ms. The server draws each in 0.1 s, and a request that somebody waits for must
 * not queue behind them.
 */
const BETWEEN_PICTURES = 60

/** A spectrum whose medium is no longer an assumption where a person has stated it for the item. */
function asStated(spectrum, person) {
  if (!person) return spectrum
  return { ...spectrum, meta: { ...spectrum.meta, medium_assumed: false, medium_set_by: person } }
}

export class Items {
  #items = new Cache(40)
  #spectra = new Cache(24)
  #hints = new Cache(40)
  #pictures = new Cache(40)

  /** @param {() => boolean} verdictFirst whether the answer is hidden until the person has given a verdict */
  constructor(verdictFirst) {
    this.verdictFirst = verdictFirst
  }

  #query() {
    return this.verdictFirst() ? '?verdict_first=true' : ''
  }

  /** Everything that is drawn at once. @param {number} id @returns {Promise<LoadedItem>} */
  load(id) {
    return this.#items.get(id, async () => {
      const item = await getJSON(`/api/v1/item/${id}${this.#query()}`)
      const { spectrum: sha256, survey, task } = item.row
      const spectrum = sha256 ? this.#spectra.get(sha256, () => getSpectrum(`/api/v1/spectrum/${sha256}`)) : null
      const [data, atlas] = await Promise.all([spectrum, getAtlas(survey, task)])
      return { item, spectrum: data && asStated(data, item.trajectory.medium_set_by), atlas }
    })
  }

  /** @param {number} id @param {string} stamp of the item @returns {Promise<Record<string, Hint[]>>} by step */
  hintsOf(id, stamp) {
    return this.#hints.get(`${id}/${stamp}`, async () => (await getJSON(`/api/v1/item/${id}/hints`)).hints)
  }

  /** @param {number} id */
  history(id) {
    return getJSON(`/api/v1/item/${id}/history${this.#query()}`)
  }

  /** One version, which the server may refuse. @param {number} id @param {number} number @returns {Promise<Reading>} */
  version(id, number) {
    return getJSON(`/api/v1/item/${id}/version/${number}${this.#query()}`)
  }

  /** Other traces of the same spectrum. @param {number} id @returns {Promise<OtherTrace[]>} */
  async others(id) {
    return (await getJSON(`/api/v1/item/${id}/others${this.#query()}`)).others
  }

  /** The item has changed: fetch it again when it is next used. Its spectrum never changes. @param {number} id */
  drop(id) {
    this.#items.drop(id)
  }

  dropAll() {
    this.#items.clear()
  }

  /**
   * Fetch what is likely to be opened soon, while the browser is idle: the items with their spectra, then hints, then
   * pictures one at a time. Ends early when `signal` is aborted.
   * @param {number[]} ids @param {(item: Item) => (string | null)[]} pictures @param {AbortSignal} signal
   */
  async prefetch(ids, pictures, signal) {
    try {
      /** @type {Item[]} */
      const items = []
      for (const id of ids) {
        await whenIdle(signal)
        const { item, spectrum } = await this.load(id)
        items.push(item)
        await whenIdle(signal)
        if (spectrum) prepare(spectrum)
      }
      for (const item of items) {
        await whenIdle(signal)
        if (!item.hidden) await this.hintsOf(item.id, item.stamp)
        for (const url of pictures(item)) if (url) await this.#prefetchPicture(url, signal)
      }
    } catch {
      // Another item was opened, or opening this one will report what is wrong.
    }
  }

  /** Have the browser hold a picture, so that its card is complete when it is shown. */
  async #prefetchPicture(/** @type {string} */ url, /** @type {AbortSignal} */ signal) {
    if (this.#pictures.has(url)) return
    await pause(BETWEEN_PICTURES)
    await whenIdle(signal)
    await this.#pictures.get(url, () => loadPicture(url, signal))
  }
}

/** @param {AbortSignal} signal */
async function whenIdle(signal) {
  await idle()
  signal.throwIfAborted()
}

/** @param {string} url @param {AbortSignal} signal @returns {Promise<HTMLImageElement>} */
function loadPicture(url, signal) {
  return new Promise((resolve, reject) => {
    const image = new Image()
    image.onload = image.onerror = () => resolve(image) // its card shows what is wrong with it
    const cancel = () => {
      if (!image.complete) image.src = ''
      reject(signal.reason)
    }
    signal.addEventListener('abort', cancel, { once: true })
    image.src = url
  })
}

/**
 * Where a step's picture is served. The address names its pixels, so the browser may keep it forever.
 * @param {Trajectory} trajectory @param {string | null} picture @param {Object} args of the tool call
 */
export function pictureURL(trajectory, picture, args) {
  if (!picture) return null
  const query = new URLSearchParams({ arguments: JSON.stringify(args) })
  if (trajectory.spectrum.sha256) query.set('spectrum', trajectory.spectrum.sha256)
  if (trajectory.redshift !== null) query.set('redshift', String(trajectory.redshift))
  return address(`/api/v1/picture/${picture}?${query}`)
}

/**
 * An item's trace as one of two that are compared.
 * @param {LoadedItem} loaded @param {Step[]} steps those that are shown
 * @returns {import('../trace/beside.js').ComparedTrace}
 */
export function comparedItem({ item, spectrum }, steps = item.trajectory.steps) {
  const { id, row, task, trajectory, version } = item
  const name = `#${id}`
  return {
    key: id,
    name,
    title: [name, row.drafter.name, version.number > 1 && `v${version.number}`].filter(Boolean).join(' · '),
    steps,
    question: task,
    pictureURL: (step) => pictureURL(trajectory, step.picture, step.arguments),
    overviewURL: pictureURL(trajectory, trajectory.overview, {}),
    meta: spectrum?.meta,
    href: `#item=${id}`,
  }
}

/** @param {OtherTrace[]} others @returns {import('../trace/beside.js').Choice[]} */
export const choicesOf = (others) =>
  others.map(({ id, drafter, task, state, version, answer }) => ({
    key: id,
    name: `#${id}`,
    facts: [
      drafter.name,
      task.title,
      stateName(state),
      t('version {version}', { version }),
      answer ? t('answer {answer}', { answer }) : t('no answer'),
    ],
  }))

/** @param {Trajectory} trajectory */
export const picturesOf = (trajectory) =>
  trajectory.steps.flatMap((step) =>
    step.kind === 'zoom' && step.picture ? [pictureURL(trajectory, step.picture, step.arguments)] : [],
  )

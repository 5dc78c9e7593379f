// Openings of items with their spectra: fetched once, kept for a while, and fetched ahead.

import { address } from '../common/address.js'
import { Cache, getAtlas, getSpectrum } from '../common/data.js'
import { stateName } from '../common/filters.js'
import { getJSON } from '../common/http.js'
import { idle, pause } from '../common/idle.js'
import { t } from '../common/language.js'
import { prepare } from '../spectrum/scene.js'

const BETWEEN_PICTURES = 60 // ms: the server draws each in 0.1 s, and no request that a person waits for must queue

/** A spectrum whose medium is no longer an assumption where a person has stated it for the item. */
function asStated(spectrum, person) {
  if (!person) return spectrum
  return { ...spectrum, meta: { ...spectrum.meta, medium_assumed: false, medium_set_by: person } }
}

export class Items {
  #items = new Cache(40)
  #spectra = new Cache(24)
  #checks = new Cache(40)
  #drops = 0 // an opening that was requested before a drop may be older than what was dropped

  /** @param {import('./state.js').ReviewState} state */
  constructor(state) {
    this.state = state
    state.on('changed', ({ id }) => this.drop(id))
    state.on('verdict-first', () => {
      this.#drops += 1
      this.#items.clear()
    })
  }

  #query() {
    return this.state.verdictFirst ? '?verdict_first=true' : ''
  }

  /** Whether an item is here, or on its way. @param {number} id */
  has(id) {
    return this.#items.has(id)
  }

  /** Everything that is drawn at once. @param {number} id @returns {Promise<LoadedItem>} */
  load(id) {
    return this.#items.get(id, async () => {
      const { query } = this.state
      return this.#withData(await openingOf(id, query), query)
    })
  }

  /** The same as it is now on the server. @param {number} id @returns {Promise<LoadedItem>} */
  async reload(id) {
    const { query } = this.state
    const drops = this.#drops
    const opening = await openingOf(id, query)
    return drops === this.#drops ? this.admit(opening, query) : this.#withData(opening, query)
  }

  /**
   * Keep an opening in place of an earlier one. If the item itself is the same, it stays: the page has noted its own
   * marks in it, which the server may not have yet.
   * @param {Opening} opening @param {string} query the list for which it was requested
   * @returns {Promise<LoadedItem>}
   */
  async admit(opening, query) {
    const { id, stamp } = opening.item
    const known = this.#items.has(id) ? await this.load(id).catch(() => null) : null
    const item = known && known.item.stamp === stamp && known.item.hidden === opening.item.hidden ? known.item : null
    const loaded = this.#withData({ ...opening, item: item ?? opening.item }, query)
    this.#items.set(id, loaded)
    return loaded
  }

  /** @param {Opening} opening @param {string} query @returns {Promise<LoadedItem>} */
  async #withData(opening, query) {
    const { item, checks } = opening
    const { spectrum: sha256, survey, task } = item.row
    if (checks) this.#checks.set(checksKey(item), Promise.resolve(checks))
    const spectrum = sha256 ? this.#spectra.get(sha256, () => getSpectrum(`/api/v1/spectrum/${sha256}`)) : null
    const [data, atlas] = await Promise.all([spectrum, getAtlas(survey, task)])
    return { item, spectrum: data && asStated(data, item.trajectory.medium_set_by), atlas, opening, query }
  }

  /** What the data say about the present version of an item. @param {Item} item @returns {Promise<Checks>} */
  checksOf(item) {
    return this.#checks.get(checksKey(item), () => getJSON(`/api/v1/item/${item.id}/checks${this.#query()}`))
  }

  /** @param {number} id */
  history(id) {
    return getJSON(`/api/v1/item/${id}/history${this.#query()}`)
  }

  /** One version, which the server may refuse. @param {number} id @param {number} number @returns {Promise<Reading>} */
  version(id, number) {
    return getJSON(`/api/v1/item/${id}/version/${number}${this.#query()}`)
  }

  /** The item has changed: fetch it again when it is next used. Its spectrum never changes. @param {number} id */
  drop(id) {
    this.#drops += 1
    this.#items.drop(id)
  }

  /**
   * Fetch what is likely to be opened soon, while the browser is idle: the items with their spectra, then checks, then
   * the pictures that will be shown, one at a time. Ends early when `signal` is aborted.
   * @param {number[]} ids @param {(item: Item) => string[]} pictures @param {AbortSignal} signal
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
        if (!item.hidden) await this.checksOf(item)
        for (const url of pictures(item)) {
          await pause(BETWEEN_PICTURES)
          await whenIdle(signal)
          const image = Object.assign(new Image(), { src: url })
          await image.decode().catch(() => {}) // where it is shown one sees what is wrong with it
        }
      }
    } catch {
      // Another item was opened, or opening this one will report what is wrong.
    }
  }
}

/** @param {number} id @param {string} query of the list @returns {Promise<Opening>} */
const openingOf = (id, query) => getJSON(`/api/v1/item/${id}/opening?${query}`)

/** Checks are those of a version of the item. @param {Item} item */
const checksKey = ({ id, version }) => `${id}/${version.id}`

/** @param {AbortSignal} signal */
async function whenIdle(signal) {
  await idle()
  signal.throwIfAborted()
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
 * @returns {import('../trace/comparison.js').ComparedTrace}
 */
export function comparedItem({ item, spectrum }, steps = item.trajectory.steps) {
  const { id, row, task, trajectory, version } = item
  const name = `#${id}`
  return {
    ...{ key: id, name, steps, question: task, meta: spectrum?.meta, href: `#item=${id}` },
    title: [name, row.drafter.name, version.number > 1 && `v${version.number}`].filter(Boolean).join(' · '),
    pictureURL: (step) => pictureURL(trajectory, step.picture, step.arguments),
    overviewURL: pictureURL(trajectory, trajectory.overview, {}),
  }
}

/** @param {OtherTrace[]} others @returns {import('../trace/comparison.js').Choice[]} */
export const choicesOf = (others) =>
  others.map(({ id, drafter, task, state, version, answer }) => ({
    key: id,
    name: `#${id}`,
    facts: [
      ...[drafter.name, task.title, stateName(state), t('version {version}', { version })],
      answer ? t('answer {answer}', { answer }) : t('no answer'),
    ],
  }))

/** @param {Trajectory} trajectory */
export const picturesOf = (trajectory) =>
  trajectory.steps.flatMap((step) =>
    step.kind === 'zoom' ? (pictureURL(trajectory, step.picture, step.arguments) ?? []) : [],
  )

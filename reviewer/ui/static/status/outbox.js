// What a person decided or wrote and the server has not accepted yet. An entry belongs to its item, not to the screen:
// it has its own lease and idempotency key, is kept in the browser, and is sent or refused whatever is shown.

import { lasting } from '../common/browser_storage.js'
import { Refused, Unreachable, connection, getJSON, postJSON, postRepeatable } from '../common/http.js'
import { pause } from '../common/idle.js'
import { t } from '../common/language.js'

const RETRY_AFTER = 2000 // ms
const SLOW = 700 // ms after which the page shows that something is being sent
const PREFIX = 'so-outbox'

/**
 * @typedef {'decision' | 'verdict' | 'undo' | 'version' | 'medium' | 'mark' | 'comment' | 'thread' | 'inspection' |
 *   'score'} Kind `score`: the answer to a blind sheet
 */

/**
 * @typedef {Object} Entry
 * @property {string} key the idempotency key, which names the entry
 * @property {Kind} kind
 * @property {string} [verb] of a decision
 * @property {number | null} item
 * @property {string} name what it is about, as the person saw it
 * @property {{id: number, at: string} | null} version of the item on which it was made
 * @property {string} lane entries of one lane are sent in their order
 * @property {{path: string, body: Record<string, any>}[]} parts requests, one after the other. The version that one has
 *   saved is the version of those after it.
 * @property {boolean} leased whether the server asks for the lease of the item
 * @property {string | null} lease its name, as far as known
 * @property {string} at when it was made
 * @property {string} waiting why it was not sent at the first attempt; "": it was not tried, or is under way
 * @property {string} refused why the server refused it; "": it did not
 * @property {boolean} slow it has been under way for a while
 * @property {boolean} restored it was made before the page was loaded
 */

/** What an entry is about, for the person. @param {Entry} entry */
export const aboutOf = ({ item, name }) => (item === null ? name : `#${item} ${name}`)

/** The fields of an entry that name its item. @param {Item} item */
export const aboutItem = ({ id, row, version }) => ({
  ...{ item: id, name: row.name, version: { id: version.id, at: version.at }, lane: `item ${id}` },
})

/**
 * @typedef {Object} Leases
 * @property {(item: number) => Promise<string>} nameOf take or renew the lease; throws `Refused` if others have it
 * @property {(item: number) => Promise<string | null>} known the lease if it is held or on its way
 * @property {(item: number) => void} lost the server does not know the lease of the item any more
 * @property {(item: number) => boolean} inUse whether the lease of the item is needed on the screen
 */

/**
 * @typedef {{inFront: () => boolean, onWait?: (why: string) => void, ready?: Promise<unknown>}} SendOptions
 *   `inFront`: whether what it is about is on the screen: then the caller shows a refusal; `onWait`: it was not sent,
 *   and will be tried again; `ready`: what has to end before it is sent
 */

/** Whether the same request may succeed later. @param {any} error */
export const passes = (error) => error instanceof Unreachable || (error instanceof Refused && error.temporary)

/**
 * Events: "change", the entries or their states have changed; "sent" with `detail.entry` and the last `detail.body`;
 * "refused" with `detail.entry`, for refusals that no part of the page shows.
 */
export class Outbox extends EventTarget {
  #initials = ''
  /** @type {Entry[]} */
  #entries = []
  /** @type {Map<string, Promise<unknown>>} the last entry of each lane */
  #lanes = new Map()
  /** @type {Map<string, Promise<any[]>>} by key */
  #underWay = new Map()
  /** @type {Leases} */
  #leases

  /** Send what an earlier page of this person has left. @param {string} initials @param {Leases} leases */
  begin(initials, leases) {
    this.#leases = leases
    this.#initials = initials
    const stored = lasting.names(this.#prefix).map((name) => lasting.read(name))
    this.#entries = stored.filter((entry) => entry?.parts).sort((a, b) => (a.at < b.at ? -1 : 1))
    for (const entry of this.#entries) {
      Object.assign(entry, { restored: true, slow: false })
      if (!entry.refused) this.#queue(entry, { inFront: () => false }).catch(() => {}) // the list shows the refusal
    }
    this.#changed()
  }

  get #prefix() {
    return `${PREFIX} ${this.#initials} `
  }

  /** Entries that wait for the server or were refused, the oldest first. */
  get unsent() {
    const blocked = new Set(this.#entries.filter(({ waiting }) => waiting).map(({ lane }) => lane))
    return this.#entries.filter((entry) => entry.refused || blocked.has(entry.lane))
  }

  get sending() {
    return this.#entries.some((entry) => entry.slow)
  }

  /** Whether closing the page would lose an entry, because the browser keeps no copy. */
  get onlyOnPage() {
    return lasting.refused && this.#entries.some((entry) => !entry.refused)
  }

  /** The decision on an item that the server has not accepted yet. @param {number} item */
  decisionOn(item) {
    return this.#entries.find((entry) => entry.item === item && entry.kind === 'decision' && !entry.refused)
  }

  /** Whether a decision on an item waits to be sent. @param {number} item */
  isUnsent(item) {
    return this.unsent.some((entry) => entry === this.decisionOn(item))
  }

  /** Whether an entry needs this lease. @param {string} lease */
  uses(lease) {
    return this.#entries.some((entry) => entry.lease === lease && !entry.refused)
  }

  /**
   * Send an entry after the earlier ones of its lane, again and again until the server accepts or refuses it. One that
   * is under way already, by its key, is not sent twice.
   * @param {Pick<Entry, 'key' | 'kind' | 'item' | 'name' | 'version' | 'lane' | 'parts'> & Partial<Entry>} message
   * @param {SendOptions} options
   * @returns {Promise<any[]>} the answers to its parts
   * @throws {Refused} with `answers`, those to the parts before the one that was refused
   */
  send(message, options) {
    const known = this.#underWay.get(message.key)
    if (known) return known
    /** @type {Entry} */
    const entry = {
      ...{ leased: false, lease: null, at: new Date().toISOString(), waiting: '', refused: '' },
      ...{ slow: false, restored: false },
      ...message,
    }
    this.#entries.push(entry)
    this.#store(entry)
    if (this.#lanes.has(entry.lane)) this.#changed() // what waits there makes this wait too
    return this.#queue(entry, options)
  }

  /** @param {Entry} entry @param {SendOptions} options */
  #queue(entry, options) {
    const before = this.#lanes.get(entry.lane)
    const sent = (async () => {
      await Promise.all([before?.catch(() => {}), options.ready]) // why the one before was refused is shown with it
      return this.#deliver(entry, options)
    })()
    this.#lanes.set(entry.lane, sent)
    this.#underWay.set(entry.key, sent)
    const leave = () => {
      this.#underWay.delete(entry.key)
      if (this.#lanes.get(entry.lane) === sent) this.#lanes.delete(entry.lane)
    }
    sent.then(leave, leave)
    return sent
  }

  /** @param {Entry} entry @param {SendOptions} options */
  async #deliver(entry, { inFront, onWait = () => {} }) {
    const timer = setTimeout(() => this.#set(entry, { slow: true }), SLOW)
    const wait = (/** @type {string} */ waiting) => {
      this.#set(entry, { waiting })
      onWait(waiting)
    }
    /** @type {any[]} */
    const answers = []
    let body = {}
    try {
      if (entry.restored) await this.#requireSameDatabase(entry, wait)
      while (entry.parts.length) {
        ;({ body } = entry.parts[0])
        const answer = await this.#post(entry, wait)
        answers.push(answer)
        const saved = answer.version ? { version: answer.version } : {}
        entry.parts = entry.parts.slice(1).map((part) => ({ ...part, body: { ...part.body, ...saved } }))
        if (entry.parts.length) this.#store(entry)
      }
      this.remove(entry)
      this.dispatchEvent(new CustomEvent('sent', { detail: { entry, body } }))
      return answers
    } catch (error) {
      const { message } = /** @type {Error} */ (error)
      if (inFront()) this.remove(entry)
      else {
        this.#set(entry, { refused: message, waiting: '' })
        this.#store(entry)
        this.dispatchEvent(new CustomEvent('refused', { detail: { entry } }))
      }
      throw Object.assign(/** @type {Error} */ (error), { answers })
    } finally {
      clearTimeout(timer)
      this.#set(entry, { slow: false })
      this.#release(entry)
    }
  }

  /** The address may have had another database before. @param {Entry} entry @param {(why: string) => void} wait */
  async #requireSameDatabase({ item, version }, wait) {
    if (item === null || !version) return
    const present = (await repeat(wait, () => getJSON(`/api/v1/item/${item}`))).version
    if (present.id === version.id ? present.at === version.at : present.id > version.id) return
    throw new Refused(409, { error: t('It was made in another database, which this address had before.') })
  }

  /**
   * Send the next part of an entry. A lease that has ended is requested again once. A decision needs none: without one
   * the server takes it with the decision.
   * @param {Entry} entry @param {(why: string) => void} wait
   */
  async #post(entry, wait) {
    const [{ path, body }] = entry.parts
    const { item, leased } = entry
    for (let attempt = 0; ; attempt += 1) {
      try {
        if (leased && item !== null && !entry.lease) {
          entry.lease = path.endsWith('/decide')
            ? await this.#leases.known(item)
            : await repeat(wait, () => this.#leases.nameOf(item))
          this.#store(entry)
        }
        const lease = leased ? { lease: entry.lease } : {}
        return await repeat(wait, () => postRepeatable(path, { ...body, ...lease }))
      } catch (error) {
        if (!(error instanceof Refused) || error.kind !== 'lease_lost' || attempt || item === null) throw error
        this.#leases.lost(item)
        entry.lease = null
      }
    }
  }

  /** Give up the lease of an entry that has been sent or refused, where nothing else needs it. @param {Entry} entry */
  #release({ item, kind, lease, refused, parts }) {
    const ended = kind === 'decision' && !refused && !parts.length // by the decision
    if (!lease || ended || item === null || this.uses(lease) || this.#leases.inUse(item)) return
    postJSON('/api/v1/release', { lease }).catch(() => {}) // it ends by itself
  }

  /** @param {Entry} entry @param {Partial<Entry>} change */
  #set(entry, change) {
    if (Object.entries(change).every(([name, value]) => /** @type {any} */ (entry)[name] === value)) return
    Object.assign(entry, change)
    this.#changed()
  }

  /** Take an entry off the list. @param {Entry} entry */
  remove(entry) {
    this.#entries = this.#entries.filter((other) => other !== entry)
    lasting.remove(this.#prefix + entry.key)
    this.#changed()
  }

  /** @param {Entry} entry */
  #store(entry) {
    lasting.set(this.#prefix + entry.key, JSON.stringify(entry))
  }

  #changed() {
    this.dispatchEvent(new Event('change'))
  }
}

/**
 * Repeat a request until the server accepts or refuses it.
 * @template T
 * @param {(why: string) => void} wait it was not answered @param {() => Promise<T>} request @returns {Promise<T>}
 */
async function repeat(wait, request) {
  for (;;) {
    try {
      return await request()
    } catch (error) {
      if (!passes(error)) throw error
      wait(/** @type {Error} */ (error).message)
      await mayPass(error)
    }
  }
}

/** Resolves after a while; where the server did not answer this person, as soon as it does. @param {any} error */
async function mayPass({ kind }) {
  const ended = new AbortController()
  const connected = new Promise((resolve) => {
    const onChange = (/** @type {any} */ { detail }) =>
      kind !== 'store' && detail.state === 'connected' && resolve(true)
    connection.addEventListener('changed', onChange, { signal: ended.signal })
  })
  await Promise.race([connected, pause(RETRY_AFTER)])
  ended.abort()
}

/** The outbox of the page. */
export const outbox = new Outbox()

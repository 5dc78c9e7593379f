// The lease on the item shown: taken with the first change or the decision, so that viewing locks nobody out; renewed
// while the item is visible, requested again when it has run out. Saving a version and deciding need it.

import { address } from '../common/address.js'
import { t } from '../common/language.js'
import { timeOfDay } from '../common/format.js'
import { Refused, postJSON, postRepeatable } from '../common/http.js'
import { outbox, passes } from '../status/outbox.js'

const RENEW_EVERY = 60_000 // ms; a lease runs for 15 minutes

/** @typedef {{lease: string, stamp: string, finished?: boolean}} HeldLease */

/** Whether the rules leave this person nothing to do on an item. @param {Item} item */
const nothingToDo = (item) => Boolean(item.may.edit) && item.may.verbs.every((verb) => verb.refusal) && !item.hidden

/** Who works on an item, and until when, in the local time of the reader. */
const heldText = (/** @type {string} */ message, /** @type {string} */ until) =>
  t('{message} Their lease ends at {until} at the latest.', { message, until: timeOfDay(until) })

export class Lease {
  /** @param {{state: import('./state.js').ReviewState, notices: import('../common/notices.js').Notices}} options */
  constructor({ state, notices }) {
    this.state = state
    this.notices = notices
    /** @type {HeldLease | null} */
    this.held = null
    /** @type {Refused | null} why the item shown could not be leased: another person has it */
    this.refusal = null
    /** @type {Promise<unknown> | null} the request for a lease that is under way */
    this.taking = null
    setInterval(() => this.renew(), RENEW_EVERY)
    state.on('opening', ({ held }) => this.#show(held))
    state.on('steps', () => this.want())
  }

  /** Say who is working on the item shown. @param {Opening['held']} held */
  #show(held) {
    const { item } = this.state
    if (!item?.standing.round) return
    if (held && !nothingToDo(item)) this.notices.show(heldText(held.message, held.until), { until: 'lease' })
    if (this.state.dirty) this.want()
  }

  /** The person has begun to change the item: lease it, unless that was requested already. */
  want() {
    const { item } = this.state
    if (!item || this.held || this.heldByOther || this.taking) return
    // A server that does not answer is shown by the autosave; the next change or the decision requests the lease again.
    this.taking = this.take(item)
      .catch((error) => passes(error) || this.notices.error(error))
      .finally(() => (this.taking = null))
  }

  /** Lease the item, unless this person has nothing to do on it. @param {Item} item */
  async take(item, post = postJSON) {
    const isWanted = () => this.state.isShown(item.id)
    this.leave()
    if (!item.standing.round || nothingToDo(item)) return
    try {
      const lease = await post(address(`/api/v1/item/${item.id}/lease`), {})
      if (!isWanted()) return void this.release(lease)
      this.held = lease
      this.notices.happened('lease')
      if (lease.stamp !== item.stamp) this.state.dispatch('outdated', { item })
    } catch (error) {
      if (!(error instanceof Refused) || error.temporary || !isWanted()) throw error
      this.refuse(error, item)
    }
  }

  get heldByOther() {
    return this.refusal !== null
  }

  /** Another person has the item, or the rules changed. @param {Refused} error @param {Item} item */
  refuse(error, item) {
    this.refusal = error.kind === 'held' ? error : null
    const unsent = this.state.dirty ? t(' Your text is kept, unsent.') : ''
    const message = this.heldByOther ? heldText(error.message, error.detail.until) : error.message
    this.notices.show(message + unsent, {
      label: this.heldByOther ? t('Try again') : null,
      onClick: () => this.#retake(item),
      until: 'lease',
    })
    this.state.dispatch('refused', { message })
  }

  /** @param {Item} item */
  #retake(item) {
    return this.take(item).catch((error) => this.notices.error(error))
  }

  /** The name of the lease on any item. @param {number} id @throws {Refused} another person has the item */
  async nameOf(id) {
    await this.taking
    const { item } = this.state
    if (item?.id !== id) return (await postRepeatable(`/api/v1/item/${id}/lease`, {})).lease
    if (!this.held || this.held.finished) {
      await this.take(item, postRepeatable)
      if (this.refusal) throw this.refusal
    }
    return this.held?.lease ?? ''
  }

  /** The lease on an item if it is held or on its way; null: none is. @param {number} id */
  async known(id) {
    await this.taking
    return this.heldOn(id)
  }

  /** The lease on an item, if it is shown and its lease is held. @param {number} id */
  heldOn(id) {
    return this.state.isShown(id) && this.held && !this.held.finished ? this.held.lease : null
  }

  /** Whether the lease on an item is needed on the screen. @param {number} id */
  inUse(id) {
    return this.state.isShown(id)
  }

  /** The server no longer knows the lease of an item. @param {number} id */
  lost(id) {
    if (this.state.isShown(id)) this.held = null
  }

  /** A decision has ended the lease on the server. */
  finish() {
    if (this.held) this.held.finished = true
  }

  /** Give the lease up before another item is opened. The caller releases what is returned. */
  leave() {
    const left = this.held
    this.held = null
    this.refusal = null
    return left
  }

  /** Release a lease, unless something that is not sent yet needs it. @param {HeldLease | null} lease */
  async release(lease) {
    if (lease && !lease.finished && !outbox.uses(lease.lease))
      await postJSON('/api/v1/release', { lease: lease.lease }).catch(() => {})
  }

  /** Extend the lease by 15 minutes. One that ran out, or that another person held, is requested again. */
  async renew() {
    const { current } = this.state
    if (document.hidden || !current) return
    try {
      if (this.heldByOther) await this.take(current.item)
      else if (this.held && !this.held.finished) await postJSON('/api/v1/renew', { lease: this.held.lease })
    } catch (error) {
      if (!passes(error) && this.state.current === current) await this.#retake(current.item)
    }
  }
}

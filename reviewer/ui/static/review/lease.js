// The right to work on the item in front: taken when it is opened, renewed while it is looked at, asked for again after a
// sleep. What is typed needs none; what is sent does.

import { Refused, Unreachable, postJSON } from '../common/http.js'

const RENEW_EVERY = 60_000 // ms; a lease runs for 15 minutes

export class Holding {
  /** @param desk  the Review page */
  constructor(desk) {
    this.desk = desk
    this.lease = null
    this.refused = false // somebody else has it
    setInterval(() => this.renew(), RENEW_EVERY)
  }

  /** Take the item, unless there is nothing to do on it for this person. `still`: whether it is wanted by the time of the answer. */
  async take(id, item, still = () => this.desk.current?.item.id === id) {
    this.lease = null
    this.refused = false
    if (!item.standing.round || (item.may.edit && item.may.verbs.every((v) => v.refusal) && !item.hidden)) return
    try {
      const lease = await postJSON(`/api/item/${id}/lease`, {})
      if (!still()) {
        // Come back to the same item meanwhile, the person has the same lease again.
        if (this.desk.current?.item.id !== id) this.release(lease)
        return
      }
      this.lease = lease
      this.desk.over('held')
      if (lease.stamp !== item.stamp) await this.desk.refresh('The item has moved on since it was fetched.')
    } catch (error) {
      if (!(error instanceof Refused) || !still()) throw error
      this.#told(error, item)
    }
  }

  /** Somebody has it, or the rules changed: who, and that nothing typed is lost. */
  #told(error, item) {
    this.refused = error.kind === 'held'
    const dirty = this.desk.drafting?.dirty ? ' Your text is kept, unsent.' : ''
    this.desk.notice(
      `${error.message}${dirty}`,
      this.refused ? 'Try again' : null,
      () => this.take(item.id, item).catch((failed) => this.desk.tell(failed)),
      'held',
    )
    this.desk.showBar(error.message)
  }

  /** Before something is sent: the lease, asked for again if it ended; null where somebody else has the item. */
  async sure() {
    if (!this.lease || this.lease.ended) {
      const { item } = this.desk.current
      await this.take(item.id, item)
      if (this.refused) return null
    }
    return this.lease?.lease ?? ''
  }

  /** Nobody's until the next one is opened; whoever calls releases what is returned. */
  leave() {
    const left = this.lease
    this.lease = null
    this.refused = false
    return left
  }

  async release(lease) {
    if (lease && !lease.ended) await postJSON('/api/release', { lease: lease.lease }).catch(() => {})
  }

  /** Another 15 minutes; one that ran out is asked for again, and so is one that somebody else had. */
  async renew() {
    const { current } = this.desk
    if (document.hidden || !current) return
    try {
      if (this.refused) await this.take(current.item.id, current.item)
      else if (this.lease && !this.lease.ended) await postJSON('/api/renew', { lease: this.lease.lease })
    } catch (error) {
      if (error instanceof Unreachable || error.passes || this.desk.current !== current) return
      await this.take(current.item.id, current.item).catch((failed) => this.desk.tell(failed))
    }
  }
}

// Marks, verdicts, versions and decisions: what is sent under a key, and what is done when it is refused.

import { Refused, newKey, postUntilHeard } from '../common/http.js'
import * as dialogs from './dialogs.js'
import { problems } from '../trace/steps.js'

/** Of refusals after which the item is shown as it is now. */
const MOVED_ON = ['version_moved', 'lease_lost', 'not_allowed']

const SLOW = 700 // ms after which it is said that something is on its way

export class Deciding {
  /** @param desk  the Review page */
  constructor(desk) {
    this.desk = desk
    this.busy = false
  }

  async mark(id, mark, note) {
    const { item } = this.desk.current
    if (item.hidden) return
    const before = item.marks.mine[id]
    const kept = note ?? (mark === 'cleared' ? '' : (before?.note ?? ''))
    if (mark === 'cleared') delete item.marks.mine[id]
    else item.marks.mine[id] = { mark, note: kept }
    this.desk.trace.refresh({ marks: item.marks.mine })
    try {
      const { at } = await postUntilHeard(
        `/api/item/${item.id}/mark`,
        { version: item.version.id, step: id, mark, note: kept, key: newKey() },
        (e) => this.desk.top.unsaved(e.message),
      )
      this.desk.top.saved(at)
    } catch (error) {
      if (before) item.marks.mine[id] = before
      else delete item.marks.mine[id]
      this.desk.trace.refresh({ marks: item.marks.mine })
      this.desk.tell(error)
    }
  }

  async commitVerdict(verdict) {
    const { item } = this.desk.current
    if (!item.hidden) return
    try {
      await postUntilHeard(`/api/item/${item.id}/verdict`, { version: item.version.id, verdict }, (e) =>
        this.desk.top.unsent(e.message),
      )
      this.desk.items.stale(item.id)
      await this.desk.open(item.id)
    } catch (error) {
      this.desk.tell(error)
    }
  }

  /** Save the edits as a version; the new version's id, or null where it was refused (the text is kept). */
  async saveVersion() {
    await this.desk.editing.settled()
    if (!this.desk.drafting.dirty) return this.desk.current.item.version.id
    const { item } = this.desk.current
    const {
      drafting,
      drafting: { steps },
    } = this.desk
    try {
      const made = await this.#underLease(`/api/item/${item.id}/version`, {
        base: item.version.id,
        steps,
        reason: drafting.comment,
        key: newKey(),
      })
      if (made === null) return null
      if (this.desk.drafting.steps === steps) drafting.close()
      this.desk.top.saved(made.at)
      return made.version
    } catch (error) {
      if (error.kind === 'version_moved')
        this.conflict(
          error.message,
          item.version.id,
          steps,
          error.detail.steps,
          `v${error.detail.number} by ${error.detail.author ?? '?'}`,
        )
      else if (error instanceof Refused && MOVED_ON.includes(error.kind)) await this.#asItIsNow(item, error)
      else this.desk.tell(error)
      return null
    }
  }

  /**
   * Send what needs the lease, under one key until it is heard. A lease that ran out is asked for again; null where
   * somebody else has the item by then, which has been told.
   */
  async #underLease(path, body) {
    const { top, holding } = this.desk
    const slow = setTimeout(() => top.sending(), SLOW)
    try {
      for (let tried = 0; ; tried += 1) {
        const lease = await holding.sure()
        if (lease === null) return top.unsent('Somebody else has the item.') ?? null
        try {
          return await postUntilHeard(path, { ...body, lease }, (error) => top.unsent(error.message))
        } catch (error) {
          if (error.kind !== 'lease_lost' || tried) throw error
          holding.lease = null
        }
      }
    } catch (error) {
      top.unsent(error.message)
      throw error
    } finally {
      clearTimeout(slow)
    }
  }

  /** Somebody else's version came first. `base`: the version my text was written on, under which it is kept. */
  async conflict(message, base, mine, theirs, who) {
    const choice = await dialogs.openConflict(message, mine, theirs, who)
    if (!choice) return
    const { item } = this.desk.current
    if (choice === 'discard') await this.desk.unsent.discardOn(item, base)
    await this.desk.refresh()
    if (choice !== 'rebase' || !this.desk.editable || this.desk.current.item.id !== item.id) return
    this.desk.notice(null)
    this.desk.editing.restep(mine)
    await this.desk.drafting.flush()
    if (!this.desk.drafting.pending) await this.desk.unsent.discardOn(item, base)
  }

  async decide(verb, { stay = false } = {}) {
    if (this.busy || !this.desk.current || this.desk.current.item.hidden) return
    const { item } = this.desk.current
    const allowed = item.may.verbs.find((v) => v.verb === verb)
    if (!allowed || allowed.refusal) return this.desk.toast(allowed?.refusal ?? `“${verb}” is not for this round.`)
    let reason = ''
    let comment = this.desk.bar.comment.value.trim()
    if (verb === 'reject') {
      const why = await dialogs.askReason(this.desk.me.reasons, comment)
      if (!why) return
      ;({ reason, comment } = why)
    } else if (verb === 'return' && !comment) {
      comment = await dialogs.askText('Return to revision: what should be changed?', '', 'Return')
      if (!comment) return
    } else if (verb === 'submit') {
      await this.desk.editing.settled()
      const missing = problems(this.desk.drafting.steps)
      if (missing.length) return this.desk.notice(`Not yet: ${missing.join('; ')}.`, null, null, 'edit')
    }
    this.busy = true
    try {
      await this.#send(item, verb, reason, comment, stay)
    } finally {
      this.busy = false
    }
  }

  async #send(item, verb, reason, comment, stay) {
    const following = this.desk.current.place?.next[0] ?? null
    const {
      drafting,
      drafting: { steps, comment: typed },
    } = this.desk
    let version = item.version.id
    try {
      await drafting.hold()
      if (verb === 'submit') version = await this.saveVersion()
      if (version === null) return
      const answer = await this.#underLease(`/api/item/${item.id}/decide`, {
        version,
        verb,
        reason,
        comment,
        key: this.desk.decideKey,
      })
      if (answer === null) return
      drafting.decided(steps, typed) // what was typed meanwhile stays, as unsent text on the version before
      this.desk.lastDecided = item.id
      this.desk.top.saved(new Date().toISOString())
      this.desk.items.stale(item.id)
      this.desk.queue.update(item.id, { state: answer.state, ...countsOf(answer.progress) })
      this.desk.toast(`${shown(verb)} · now ${answer.progress}`)
      if (this.desk.current?.item.id !== item.id) return // opened another one while this waited for the server
      if (this.desk.lease) this.desk.lease.ended = true
      if (stay) await this.desk.open(item.id)
      else await this.desk.next(following)
    } catch (error) {
      this.desk.decideKey = newKey()
      this.desk.tell(error)
      const saved = version !== null && version !== item.version.id
      if (saved || (error instanceof Refused && MOVED_ON.includes(error.kind))) await this.#asItIsNow(item, error)
    } finally {
      drafting.goOn()
    }
  }

  /** What was refused because the item is not as it was: shown as it is, with the reason beside it. */
  async #asItIsNow(item, error) {
    if (this.desk.current?.item.id !== item.id) return
    const kept = this.desk.drafting.dirty ? ' What you wrote is kept as unsent text.' : ''
    try {
      await this.desk.refresh()
      await this.desk.holding.take(item.id, this.desk.current.item)
      if (this.desk.notices.line.hidden) this.desk.notice(error.message + kept)
      else this.desk.toast(error.message)
    } catch (failed) {
      this.desk.tell(failed)
    }
  }

  async undo() {
    const id = this.desk.current?.item.may.undo ? this.desk.current.item.id : this.desk.lastDecided
    if (!id) return this.desk.toast('There is no decision of yours to take back here.')
    try {
      const answer = await postUntilHeard(`/api/item/${id}/undo`, { key: newKey() }, (e) =>
        this.desk.top.unsaved(e.message),
      )
      this.desk.lastDecided = null
      this.desk.items.stale(id)
      this.desk.queue.update(id, { state: answer.state })
      this.desk.toast(`Taken back · now ${answer.state}`)
      await this.desk.open(id)
    } catch (error) {
      this.desk.tell(error)
    }
  }
}

const shown = (verb) =>
  ({
    keep: 'Kept',
    submit: 'Submitted',
    pass: 'Passed',
    approve: 'Approved',
    reject: 'Rejected',
    return: 'Returned',
    abstain: 'Abstained',
  })[verb]

const countsOf = (progress) => {
  const counted = /(\d+) of (\d+)/.exec(progress)
  return counted ? { cast: Number(counted[1]), wanted: Number(counted[2]) } : { cast: 0, wanted: 1 }
}

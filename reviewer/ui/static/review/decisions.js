// Marks, verdicts, versions and decisions: what is sent under an idempotency key, and what happens when it is refused.

import { sentences, t } from '../common/language.js'
import { Refused, newKey, postUntilAnswered } from '../common/http.js'
import { Keys } from '../common/keys.js'
import { refusalOf } from './decision_bar.js'
import * as dialogs from './dialogs.js'
import { problems } from '../trace/steps.js'

/** Refusals after which the item is loaded again, because it has changed. */
const ITEM_CHANGED = ['version_moved', 'lease_lost', 'not_allowed']

/** The reason of a reject that is a verdict of its own. */
const CANNOT_TELL = 'cannot_tell'

const SLOW = 700 // ms after which the page shows that something is being sent

/** @type {Record<string, string>} decisions after which a text can become training data */
const ALL_THE_SAME = {
  submit: t('Submit all the same'),
  pass: t('Pass all the same'),
  approve: t('Approve all the same'),
}
const SENDS_ON = Object.keys(ALL_THE_SAME)

/** @type {Record<string, string>} */
const DONE = {
  keep: t('Kept.'),
  submit: t('Submitted.'),
  pass: t('Passed.'),
  approve: t('Approved.'),
  reject: t('Rejected.'),
  return: t('Returned.'),
  abstain: t('Abstained.'),
}
/** The state that each of these decisions is for. @type {Record<string, string>} */
const REACHED = { approve: 'approved', reject: 'rejected', return: 'returned' }

/**
 * What a decision has done, e.g. "Kept. Next: revision".
 * @param {Item} item @param {string} verb @param {{state: string, progress: string}} answer
 */
function sentence({ version }, verb, { state, progress }) {
  if (state === 'cannot tell') return t('Decided: nobody can tell from these data.')
  if (state === 'returned' && version.author) return t('Returned to {author}.', { author: version.author })
  return sentences(DONE[verb], REACHED[verb] !== state && t('Next: {progress}', { progress }))
}

/**
 * @typedef {Object} DecisionsOptions
 * @property {import('./state.js').ReviewState} state
 * @property {import('./lease.js').Lease} lease
 * @property {import('./work_time.js').WorkTime} workTime
 * @property {import('./recovery.js').Recovery} recovery
 * @property {import('../common/notices.js').Notices} notices
 * @property {import('../common/page_status.js').TopBar} topBar
 * @property {() => Promise<void>} changesMade resolves when every change that was requested is made
 * @property {() => import('./statements.js').Disagreement[]} disagreements between the texts and their tool calls, as
 *   far as they are known
 * @property {(id: string) => void} select a step
 * @property {(marks: Record<string, Mark>) => void} showMarks
 * @property {(id: number, change?: Partial<QueueRow>) => void} onChanged an item changed on the server
 * @property {(id: number) => Promise<void>} open
 * @property {(id: number | null) => Promise<void>} next open this item, or the next one under the filter
 * @property {() => Promise<void>} refresh load and draw the item shown again
 */

export class Decisions {
  #sending = false

  /** @param {DecisionsOptions} options */
  constructor(options) {
    this.on = options
    this.state = options.state
    this.lease = options.lease
    this.notices = options.notices
    this.topBar = options.topBar
  }

  /**
   * Mark a step.
   * @param {string} id @param {string} mark @param {string} [note]
   * @returns {Promise<boolean>} whether the server has it
   */
  async mark(id, mark, note) {
    const { item } = this.state
    if (!item || item.hidden) return false
    const { mine } = item.marks
    const before = mine[id]
    const text = note ?? (mark === 'cleared' ? '' : (before?.note ?? ''))
    if (mark === 'cleared') delete mine[id]
    else mine[id] = { mark, note: text }
    this.on.showMarks(mine)
    try {
      const body = { version: item.version.id, step: id, mark, note: text, key: newKey() }
      const { at } = await postUntilAnswered(`/api/v1/item/${item.id}/mark`, body, (e) =>
        this.topBar.notSaved(e.message),
      )
      this.topBar.saved(at)
      return true
    } catch (error) {
      if (before) mine[id] = before
      else delete mine[id]
      this.on.showMarks(mine)
      this.notices.error(error)
      return false
    }
  }

  /** Confirm an answer of which the drafter cannot tell: the step of the answer is marked as supported. */
  async confirmAnswer(/** @type {string} */ id) {
    const { item } = this.state
    if (!item || !(await this.mark(id, 'supported'))) return
    this.on.onChanged(item.id)
    if (this.state.isShown(item.id)) await this.on.refresh()
    this.notices.toast(t('Confirmed: the answer is marked as supported by the data.'))
  }

  /** Give one's own verdict, after which the hidden answer is shown. @param {string} verdict */
  async commitVerdict(verdict) {
    const { item } = this.state
    if (!item?.hidden) return
    try {
      const body = { version: item.version.id, verdict }
      await postUntilAnswered(`/api/v1/item/${item.id}/verdict`, body, (e) => this.topBar.notSent(e.message))
      this.on.onChanged(item.id)
      await this.on.open(item.id)
      if (verdict === 'cannot tell') {
        const key = Keys.of('decide-cannot-tell')
        this.notices.toast(t('Your verdict: cannot tell. The key {key} decides the item so.', { key }))
      }
    } catch (error) {
      this.notices.error(error)
    }
  }

  /** Save the edits as a version and draw the item with it. */
  async saveAndRefresh() {
    const before = this.state.item?.version.id
    const version = await this.saveVersion()
    if (!version || version === before) return
    await this.on.refresh()
    this.notices.toast(t('Saved as a version.'))
  }

  /**
   * Save the edits as a version.
   * @returns {Promise<number | null>} the version, or null where it was refused; the text is kept then
   */
  async saveVersion() {
    await this.on.changesMade()
    const { draft, item } = this.state
    if (!draft || !item) return null
    if (!draft.dirty) return item.version.id
    const { steps } = draft
    try {
      const body = { base: item.version.id, steps, reason: draft.comment, key: newKey() }
      const saved = await this.#postLeased(`/api/v1/item/${item.id}/version`, body)
      if (saved === null) return null
      if (draft.steps === steps) draft.close()
      this.topBar.saved(saved.at)
      return saved.version
    } catch (error) {
      if (!(error instanceof Refused)) this.notices.error(error)
      else if (error.kind === 'version_moved') {
        const { number, author, steps: theirs } = error.detail
        this.on.recovery.resolveConflict({
          message: error.message,
          base: item.version.id,
          mine: steps,
          theirs,
          whose: `v${number} by ${author ?? '?'}`,
        })
      } else if (ITEM_CHANGED.includes(error.kind)) await this.#showPresentItem(item, error)
      else this.notices.error(error)
      return null
    }
  }

  /**
   * State the medium of a spectrum whose file does not, as a version of its own after the edits so far.
   * @param {string} medium "air" or "vacuum"
   */
  async setMedium(medium) {
    const base = await this.saveVersion()
    const { item } = this.state
    if (base === null || !item) return
    try {
      const body = { base, medium, key: newKey() }
      const made = await this.#postLeased(`/api/v1/item/${item.id}/medium`, body)
      if (made === null) return
      this.topBar.saved(made.at)
      await this.on.refresh()
      this.notices.toast(
        t('The wavelengths are in {medium}, stated by you. Saved as version {number}.', {
          medium,
          number: made.number,
        }),
      )
    } catch (error) {
      if (error instanceof Refused && ITEM_CHANGED.includes(error.kind)) await this.#showPresentItem(item, error)
      else this.notices.error(error)
    }
  }

  /**
   * Send what needs the lease, with the same key until the server answers. A lease that has run out is requested again
   * once. Resolves with null where another person has the item; the page shows that already.
   * @param {string} path @param {Object} body @returns {Promise<any>}
   */
  async #postLeased(path, body) {
    const { lease, topBar } = this
    const slow = setTimeout(() => topBar.sending(), SLOW)
    const wait = (/** @type {Error} */ error) => topBar.notSent(error.message)
    try {
      for (let attempt = 0; ; attempt += 1) {
        const name = await lease.ensure(wait)
        if (name === null) {
          topBar.notSent(t('Another person is working on the item.'))
          return null
        }
        try {
          return await postUntilAnswered(path, { ...body, lease: name }, wait)
        } catch (error) {
          if (!(error instanceof Refused) || error.kind !== 'lease_lost' || attempt) throw error
          lease.lost()
        }
      }
    } catch (error) {
      topBar.notSent(/** @type {Error} */ (error).message)
      throw error
    } finally {
      clearTimeout(slow)
    }
  }

  /** Decide that the data allow neither YES nor NO. No dialog: the comment of the bar is the comment. */
  cannotTell() {
    return this.decide('reject', { reason: CANNOT_TELL })
  }

  /**
   * @param {string} verb
   * @param {{stay?: boolean, reason?: string}} options `stay`: show the same item afterwards; `reason`: of a reject,
   *   which no dialog requests then
   */
  async decide(verb, { stay = false, reason = '' } = {}) {
    const { draft, item } = this.state
    if (this.#sending || !draft || !item || item.hidden) return
    const offered = item.may.verbs.find((one) => one.verb === verb)
    const refusal = offered && refusalOf(offered, draft.dirty)
    if (!offered || refusal) {
      this.notices.toast(refusal ?? t('“{verb}” is not possible in this round.', { verb }))
      return
    }
    const unsent = new dialogs.UnsentAnswer(this.state.me.initials, item, verb)
    const given = reason ? { reason, comment: draft.comment.trim() } : await this.#reasonFor(verb, draft, unsent)
    if (!given) return
    this.#sending = true
    try {
      await this.#send(item, verb, given, { stay, onSent: () => unsent.forget() })
    } finally {
      this.#sending = false
    }
  }

  /**
   * Request the reason or comment of a decision; null if the person cancels.
   * @param {string} verb @param {import('./drafts.js').Draft} draft @param {dialogs.UnsentAnswer} unsent
   * @returns {Promise<{reason: string, comment: string} | null>}
   */
  async #reasonFor(verb, draft, unsent) {
    const comment = draft.comment.trim()
    if (verb === 'reject') return dialogs.askReason(this.state.me.reasons, comment, unsent)
    if (verb === 'return' && !comment) {
      const text = await dialogs.askText(t('Return to revision: what should be changed?'), '', t('Return'), unsent)
      return text ? { reason: '', comment: text } : null
    }
    if (verb === 'submit') {
      await this.on.changesMade()
      const missing = problems(this.state.steps)
      if (missing.length) {
        this.notices.show(t('Not submitted: {missing}.', { missing: missing.join('; ') }), { until: 'edit' })
        return null
      }
    }
    return { reason: '', comment }
  }

  /**
   * @param {Item} item @param {string} verb @param {{reason: string, comment: string}} given
   * @param {{stay: boolean, onSent: () => void}} options
   */
  async #send(item, verb, { reason, comment }, { stay, onSent }) {
    const { current, draft } = this.state
    if (!draft) return
    const following = current?.place?.next[0] ?? null
    const { steps, comment: typed } = draft
    /** @type {number | null} */
    let version = item.version.id
    try {
      await draft.pause()
      if (verb === 'submit') version = await this.saveVersion()
      if (version === null) return
      const worked = this.on.workTime.spent(item.id)
      const body = { version, verb, reason, comment, key: this.state.decisionKey, worked }
      const answer = await this.#postConfirmed(item, verb, body)
      if (answer === null) return
      if (answer === 'not confirmed') {
        if (version !== item.version.id) await this.on.refresh()
        return
      }
      onSent()
      this.on.workTime.decided(item.id)
      draft.decided(steps, typed) // text typed meanwhile is kept as unsent text on the earlier version
      this.state.lastDecided = item.id
      this.topBar.saved(new Date().toISOString())
      this.on.onChanged(item.id, { state: answer.state, cast: answer.done, wanted: answer.needed })
      this.notices.toast(sentence(item, verb, answer))
      if (!this.state.isShown(item.id)) return // another item was opened meanwhile
      this.lease.finish()
      if (stay) await this.on.open(item.id)
      else await this.on.next(following)
    } catch (error) {
      this.state.decisionKey = newKey()
      this.notices.error(error)
      const saved = version !== null && version !== item.version.id
      const changed = error instanceof Refused && ITEM_CHANGED.includes(error.kind)
      if (saved || changed) await this.#showPresentItem(item, /** @type {Error} */ (error))
    } finally {
      draft.resume()
    }
  }

  /**
   * Send a decision. Where the texts disagree with their tool calls, the person is shown how and confirms it first:
   * what is known here before the request, the rest after the server has refused it.
   * @param {Item} item @param {string} verb @param {Object} body
   */
  async #postConfirmed(item, verb, body) {
    let open = SENDS_ON.includes(verb) ? this.on.disagreements() : []
    for (;;) {
      if (open.length && !(await this.#confirmed(verb, open))) return t('not confirmed')
      try {
        return await this.#postLeased(`/api/v1/item/${item.id}/decide`, { ...body, confirmed: open.length })
      } catch (error) {
        if (!(error instanceof Refused) || error.kind !== 'disagreement') throw error
        open = error.detail.statements
      }
    }
  }

  /** @param {string} verb @param {import('./statements.js').Disagreement[]} open */
  async #confirmed(verb, open) {
    const choice = await dialogs.confirmDisagreements(open, ALL_THE_SAME[verb])
    if (choice === 'first') this.on.select(open[0].step)
    return choice === 'confirm'
  }

  /** Load an item that has changed, and show the reason of the refusal. @param {Item} item @param {Error} error */
  async #showPresentItem(item, error) {
    const { state } = this
    if (!state.isShown(item.id)) return
    const kept = state.dirty ? t(' What you wrote is kept as unsent text.') : ''
    try {
      await this.on.refresh()
      if (state.item && state.dirty) await this.lease.take(state.item)
      if (this.notices.shown) this.notices.toast(error.message)
      else this.notices.show(error.message + kept)
    } catch (failed) {
      this.notices.error(failed)
    }
  }

  /** Undo this person's last decision on the item shown, or else the last one made on this page. */
  async undo() {
    const { item, lastDecided } = this.state
    const id = item?.may.undo ? item.id : lastDecided
    if (!id) {
      this.notices.toast(t('You have made no decision here that can be undone.'))
      return
    }
    try {
      const answer = await postUntilAnswered(`/api/v1/item/${id}/undo`, { key: newKey() }, (error) =>
        this.topBar.notSaved(error.message),
      )
      this.state.lastDecided = null
      this.on.onChanged(id, { state: answer.state })
      this.notices.toast(t('Undone. Now: {state}', { state: answer.state }))
      await this.on.open(id)
    } catch (error) {
      this.notices.error(error)
    }
  }
}

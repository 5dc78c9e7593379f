// Marks, verdicts, versions and decisions: put into the outbox, which sends them, and what happens when one is accepted
// or refused while its item is in front.

import { bodyOf } from '../common/filters.js'
import { sentences, t, word } from '../common/language.js'
import { Refused, newKey } from '../common/http.js'
import { Keys } from '../common/keys.js'
import { aboutItem, outbox } from '../status/outbox.js'
import { changeBetween } from './changes.js'
import { NOT_SENT, refusalOf } from './decision_bar.js'
import * as dialogs from './dialogs.js'
import { problems } from '../trace/steps.js'

/** Whether the item has to be loaded again, because it has changed. @param {any} error */
const hasChanged = (error) =>
  error instanceof Refused && ['version_moved', 'lease_lost', 'not_allowed'].includes(error.kind)

/** The reason of a reject that is a verdict of its own. */
const CANNOT_TELL = 'cannot_tell'

/** @type {Record<string, string>} decisions after which a text can become training data */
const ALL_THE_SAME = {
  submit: t('Submit all the same'),
  pass: t('Pass all the same'),
  approve: t('Approve all the same'),
}

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

export class Decisions {
  /** @type {Set<number>} items on which a decision is being made or sent */
  #deciding = new Set()

  /**
   * @param {{state: import('./state.js').ReviewState, items: import('./items.js').Items,
   *   navigation: import('./navigation.js').Navigation, lease: import('./lease.js').Lease,
   *   editing: import('./editing.js').Editing, statements: import('./statements.js').Statements,
   *   view: import('./item_view.js').ItemView, workTime: import('./work_time.js').WorkTime,
   *   recovery: import('./recovery.js').Recovery, notices: import('../common/notices.js').Notices,
   *   topBar: import('../status/page_status.js').TopBar}} parts
   */
  constructor(parts) {
    this.parts = parts
    this.state = parts.state
    this.notices = parts.notices
  }

  /**
   * Put something about an item into the outbox. A refusal is shown here if the item is in front then, otherwise in the
   * list of what was not sent.
   * @param {Item} item @param {import('../status/outbox.js').Entry['kind']} kind
   * @param {Record<string, any>[]} bodies of its requests, each with its `route` under the item
   * @param {{key?: string, verb?: string, leased?: boolean, ready?: Promise<unknown>}} [options]
   */
  #post(item, kind, bodies, { key = newKey(), verb, leased = false, ready } = {}) {
    const { id } = item
    const parts = bodies.map(({ route, ...body }) => ({ path: `/api/v1/item/${id}/${route}`, body }))
    const lease = leased ? this.parts.lease.heldOn(id) : null
    const inFront = () => this.state.isShown(id)
    return outbox.send({ ...aboutItem(item), key, kind, verb, parts, leased, lease }, { inFront, ready })
  }

  /** Show a refusal, unless the list of what was not sent does. @param {Item} item @param {unknown} error */
  #refused(item, error) {
    if (this.state.isShown(item.id)) this.notices.error(error)
  }

  /** An item was changed: where it is still shown, draw it and say so. @param {Item} item @param {string} done */
  async #changed({ id }, done) {
    this.state.itemChanged(id)
    if (!this.state.isShown(id)) return
    await this.parts.navigation.refresh()
    this.notices.toast(done)
  }

  /**
   * Mark a step.
   * @param {string} id @param {Mark['mark']} mark @param {string} [note]
   * @returns {Promise<boolean>} whether the server has it
   */
  async mark(id, mark, note) {
    const { item } = this.state
    if (!item || item.hidden) return false
    const { mine } = item.marks
    const before = mine[id]
    const text = note ?? (mark === 'cleared' ? '' : (before?.note ?? ''))
    const show = (/** @type {Mark | null} */ shown) => {
      if (shown) mine[id] = shown
      else delete mine[id]
      if (this.state.item === item) this.parts.view.refresh({ marks: mine })
    }
    show(mark === 'cleared' ? null : { mark, note: text })
    const key = newKey()
    try {
      const body = { route: 'mark', version: item.version.id, step: id, mark, note: text, key }
      const [{ at }] = await this.#post(item, 'mark', [body], { key })
      this.parts.topBar.saved(at)
      return true
    } catch (error) {
      show(before)
      this.#refused(item, error)
      return false
    }
  }

  /** Confirm an answer of which the drafter cannot tell: the step of the answer is marked as supported. */
  async confirmAnswer(/** @type {string} */ id) {
    const { item } = this.state
    if (item && (await this.mark(id, 'supported')))
      await this.#changed(item, t('Confirmed: the answer is marked as supported by the data.'))
  }

  /** Give one's own verdict, after which the hidden answer is shown. @param {string} verdict */
  async commitVerdict(verdict) {
    const { item } = this.state
    if (!item?.hidden) return
    try {
      await this.#post(item, 'verdict', [{ route: 'verdict', version: item.version.id, verdict }])
      this.state.itemChanged(item.id)
      if (!this.state.isShown(item.id)) return
      await this.parts.navigation.open(item.id)
      if (verdict === 'cannot tell') {
        const key = Keys.of('decide-cannot-tell')
        this.notices.toast(t('Your verdict: cannot tell. The key {key} decides the item so.', { key }))
      }
    } catch (error) {
      this.#refused(item, error)
    }
  }

  /** Save the edits as a version and draw the item with it. */
  async saveAndRefresh() {
    const { item } = this.state
    const version = await this.saveVersion()
    if (item && version && version !== item.version.id) await this.#changed(item, t('Saved as a version.'))
  }

  /** Save the edits as a version, which is returned; null where it was refused: the text is kept then. */
  async saveVersion() {
    await this.parts.editing.changesMade()
    const { draft, item } = this.state
    if (!draft || !item) return null
    if (!draft.dirty) return item.version.id
    const { steps } = draft
    const body = versionOf(item, draft)
    try {
      const [saved] = await this.#post(item, 'version', [body], { key: body.key, leased: true })
      if (draft.steps === steps) draft.close()
      this.parts.topBar.saved(saved.at)
      this.state.itemChanged(item.id)
      return /** @type {number} */ (saved.version)
    } catch (error) {
      await this.#versionRefused(item, error, steps)
      return null
    }
  }

  /** @param {Item} item @param {any} error @param {Step[]} [steps] the text, which is not saved */
  async #versionRefused(item, error, steps) {
    if (!this.state.isShown(item.id) || error.kind === 'held') return // the lease shows who has the item
    if (error.kind === 'version_moved' && steps) {
      const { number, author, steps: theirs } = error.detail
      const whose = `v${number} by ${author ?? '?'}`
      const { message } = error
      this.parts.recovery.resolveConflict({ message, base: item.version.id, mine: steps, theirs, whose })
    } else if (hasChanged(error)) await this.#showPresentItem(item, error)
    else this.notices.error(error)
  }

  /**
   * State the medium of a spectrum whose file does not, as a version of its own after the edits so far.
   * @param {string} medium "air" or "vacuum"
   */
  async setMedium(medium) {
    const base = await this.saveVersion()
    const { item } = this.state
    if (base === null || !item) return
    const key = newKey()
    try {
      const body = { route: 'medium', base, medium, key }
      const [{ at, number }] = await this.#post(item, 'medium', [body], { key, leased: true })
      this.parts.topBar.saved(at)
      const values = { medium, number }
      const done = t('The wavelengths are in {medium}, stated by you. Saved as version {number}.', values)
      await this.#changed(item, done)
    } catch (error) {
      await this.#versionRefused(item, error)
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
    const { draft, item, newRound } = this.state
    if (!draft || !item || item.hidden) return
    const refuse = (/** @type {string} */ why) => this.notices.toast(why)
    if (newRound)
      return refuse(
        t('This item is in another round now: {round}. First press “Go on in this round”.', { round: word(newRound) }),
      )
    if (this.#deciding.has(item.id) || outbox.decisionOn(item.id))
      return outbox.isUnsent(item.id) ? refuse(NOT_SENT) : undefined
    const offered = item.may.verbs.find((offer) => offer.verb === verb)
    const refusal = offered ? refusalOf(offered, draft.dirty) : t('“{verb}” is not possible in this round.', { verb })
    if (refusal) return refuse(refusal)
    const unsent = new dialogs.UnsentAnswer(this.state.me.initials, item, verb)
    const given = reason ? { reason, comment: draft.comment.trim() } : await this.#reasonFor(verb, draft, unsent)
    if (!given) return
    this.#deciding.add(item.id)
    try {
      await this.#send(item, verb, given, { stay, onSent: () => unsent.forget() })
    } finally {
      this.#deciding.delete(item.id)
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
      await this.parts.editing.changesMade()
      const missing = problems(this.state.steps)
      if (missing.length) {
        this.notices.show(t('Not submitted: {missing}.', { missing: missing.join('; ') }), { until: 'edit' })
        return null
      }
    }
    return { reason: '', comment }
  }

  /**
   * Send a decision, after the changed text that it submits. Where the texts disagree with their tool calls, the person
   * is shown how and confirms it first: what is known here before the request, the rest after the server refused it.
   * @param {Item} item @param {string} verb @param {{reason: string, comment: string}} given
   * @param {{stay: boolean, onSent: () => void}} options
   */
  async #send(item, verb, { reason, comment }, { stay, onSent }) {
    const { navigation, lease, statements, workTime } = this.parts
    const { current, draft, filter, query, verdictFirst, visit } = this.state
    if (!draft) return
    const following = current?.place?.next[0] ?? null
    const shownNext = stay ? item.id : following
    const opens = shownNext && { item: shownNext, filter: bodyOf(filter), verdict_first: verdictFirst }
    const { steps, comment: typed } = draft
    const key = this.state.decisionKey
    const worked = workTime.spent(item.id)
    /** @type {Record<string, any>[]} */
    let before = verb === 'submit' && draft.dirty ? [versionOf(item, draft)] : []
    let version = item.version.id
    let open = verb in ALL_THE_SAME ? (statements.known ?? []) : []
    try {
      for (;;) {
        if (open.length && !(await this.#confirmed(verb, open))) {
          if (version !== item.version.id) await navigation.refresh()
          return
        }
        const facts = { version, verb, reason, comment, key, worked, confirmed: open.length }
        const decision = { route: 'decide', ...facts, ...(opens && { opens }) }
        const ready = draft.pause()
        try {
          const sent = { key, verb, leased: true, ready }
          const answers = await this.#post(item, 'decision', [...before, decision], sent)
          onSent()
          const sentFrom = { draft, steps, typed, visit, following, stay, query }
          return await this.#decided(item, verb, answers.at(-1), sentFrom)
        } catch (error) {
          const saved = /** @type {any} */ (error).answers?.[0]
          if (before.length && saved) {
            version = saved.version
            before = []
            if (draft.steps === steps) draft.close()
            this.state.itemChanged(item.id)
          }
          if (!(error instanceof Refused) || error.kind !== 'disagreement' || !this.state.isShown(item.id)) throw error
          open = error.detail.statements
        }
      }
    } catch (error) {
      if (!this.state.isShown(item.id)) return
      this.state.decisionKey = newKey()
      if (before.length) await this.#versionRefused(item, error, steps)
      else if (version !== item.version.id || hasChanged(error)) await this.#showPresentItem(item, error)
      else if (error instanceof Refused && error.kind === 'held') lease.refuse(error, item)
      else this.notices.error(error)
    } finally {
      draft.resume()
    }
  }

  /**
   * The server has accepted a decision: go to the next item, if the person has not left this one meanwhile.
   * @param {Item} item @param {string} verb @param {any} answer
   * @param {{draft: import('./drafts.js').Draft, steps: Step[], typed: string, visit: number, following: number | null,
   *   stay: boolean, query: string}} sent what was on the page when it was sent
   */
  async #decided(item, verb, answer, { draft, steps, typed, visit, following, stay, query }) {
    const { state } = this
    const { items, lease, navigation, recovery, topBar, workTime } = this.parts
    const { id, row } = item
    workTime.decided(id)
    // Text typed meanwhile is kept as unsent text on the earlier version.
    for (const written of new Set([draft, recovery.drafts.get(id)])) written?.decided(steps, typed)
    state.lastDecided = { id, name: row.name }
    topBar.saved(new Date().toISOString())
    const isSameList = query === state.query
    const change = { state: answer.state, cast: answer.done, needed: answer.needed }
    state.itemChanged(id, change, isSameList ? answer.listed : undefined)
    const done = sentence(item, verb, answer)
    if (!state.isShown(id)) return this.notices.toast(t('#{item} {name}: {done}', { item: id, name: row.name, done }))
    this.notices.toast(done)
    lease.finish()
    // Where its data cannot be had, opening it will report that.
    const brought = answer.opening && isSameList ? await items.admit(answer.opening, query).catch(() => null) : null
    if (!state.isShown(id)) return
    if (state.visit !== visit) await navigation.open(id)
    else if (stay) await navigation.open(id, { brought })
    else await navigation.next(following, brought)
  }

  /** @param {string} verb @param {import('./statements.js').Disagreement[]} open */
  async #confirmed(verb, open) {
    const choice = await dialogs.confirmDisagreements(open, ALL_THE_SAME[verb])
    if (choice === 'first') this.parts.view.select(open[0].step)
    return choice === 'confirm'
  }

  /** Load a changed item; show who changed it, or else why the request failed. @param {Item} item @param {any} error */
  async #showPresentItem(item, error) {
    const { state } = this
    if (!state.isShown(item.id)) return
    const kept = state.dirty ? t(' What you wrote is kept as unsent text.') : ''
    try {
      await this.parts.navigation.refresh()
      if (state.item && state.dirty) await this.parts.lease.take(state.item)
      const change = state.item && changeBetween(item, state.item, state.me.initials)
      const message = change ? sentences(t('Not sent.'), change) : error.message
      if (this.notices.shown) this.notices.toast(message)
      else this.notices.show(message + kept)
    } catch (failed) {
      this.notices.error(failed)
    }
  }

  /** Undo this person's last decision on the item shown, or else the last one made on this page. */
  async undo() {
    const { state } = this
    const { item, lastDecided, visit } = state
    const { id, name } = (item?.may.undo ? { id: item.id, name: item.row.name } : lastDecided) ?? { id: 0, name: '' }
    if (!id) return this.notices.toast(t('You have made no decision here that can be undone.'))
    const isHere = () => state.visit === visit
    const key = newKey()
    const parts = [{ path: `/api/v1/item/${id}/undo`, body: { key } }]
    try {
      const about = { item: id, name, version: null, lane: `item ${id}` }
      const [answer] = await outbox.send({ ...about, key, kind: 'undo', parts }, { inFront: isHere })
      state.lastDecided = null
      state.itemChanged(id, { state: answer.state })
      this.notices.toast(t('Undone. Now: {state}', { state: word(answer.state) }))
      if (!isHere()) return
      state.undone = id
      await this.parts.navigation.open(id)
    } catch (error) {
      if (isHere()) this.notices.error(error)
    }
  }
}

/** The request that saves a text as a version. @param {Item} item @param {import('./drafts.js').Draft} draft */
const versionOf = (item, { steps, comment }) => ({
  ...{ route: 'version', base: item.version.id, steps, reason: comment, key: newKey() },
})

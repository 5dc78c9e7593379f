// Marks, verdicts, versions and decisions: put into the outbox, which sends them, and what happens when one is accepted
// or refused while its item is in front.

import { bodyOf } from '../common/filters.js'
import { sentences, t, word } from '../common/language.js'
import { Refused, newKey } from '../common/http.js'
import { Keys } from '../common/keys.js'
import { outbox } from '../status/outbox.js'
import { changeBetween } from './changes.js'
import { NOT_SENT, refusalOf } from './decision_bar.js'
import * as dialogs from './dialogs.js'
import { problems } from '../trace/steps.js'

/** Refusals after which the item is loaded again, because it has changed. */
const ITEM_CHANGED = ['version_moved', 'lease_lost', 'not_allowed']

/** The reason of a reject that is a verdict of its own. */
const CANNOT_TELL = 'cannot_tell'

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
 * @property {import('./items.js').Items} items
 * @property {import('./navigation.js').Navigation} navigation
 * @property {import('./lease.js').Lease} lease
 * @property {import('./editing.js').Editing} editing
 * @property {import('./statements.js').Statements} statements
 * @property {import('./item_view.js').ItemView} view
 * @property {import('./work_time.js').WorkTime} workTime
 * @property {import('./recovery.js').Recovery} recovery
 * @property {import('../common/notices.js').Notices} notices
 * @property {import('../status/page_status.js').TopBar} topBar
 */

export class Decisions {
  /** @type {Set<number>} items on which a decision is being made or sent */
  #deciding = new Set()

  /** @param {DecisionsOptions} options */
  constructor(options) {
    this.state = options.state
    this.items = options.items
    this.navigation = options.navigation
    this.lease = options.lease
    this.editing = options.editing
    this.statements = options.statements
    this.view = options.view
    this.workTime = options.workTime
    this.recovery = options.recovery
    this.notices = options.notices
    this.topBar = options.topBar
  }

  /**
   * Put something about an item into the outbox. A refusal is shown here if the item is in front then, otherwise in the
   * list of what was not sent.
   * @param {Item} item @param {import('../status/outbox.js').Entry['kind']} kind
   * @param {Record<string, any>[]} bodies of its requests, each with its `route` under the item
   * @param {{key?: string, verb?: string, leased?: boolean, ready?: Promise<unknown>}} [options]
   */
  #post(item, kind, bodies, { key = newKey(), verb, leased = false, ready } = {}) {
    const { id, row, version } = item
    const parts = bodies.map(({ route, ...body }) => ({ path: `/api/v1/item/${id}/${route}`, body }))
    const about = { item: id, name: row.name, version: { id: version.id, at: version.at }, lane: `item ${id}` }
    const lease = leased ? this.lease.heldOn(id) : null
    const inFront = () => this.state.isShown(id)
    return outbox.send({ ...{ key, kind, verb, parts, leased, lease }, ...about }, { inFront, ready })
  }

  /** Show a refusal, unless the list of what was not sent does. @param {Item} item @param {unknown} error */
  #refused(item, error) {
    if (this.state.isShown(item.id)) this.notices.error(error)
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
    const show = () => this.state.item === item && this.view.showMarks(mine)
    if (mark === 'cleared') delete mine[id]
    else mine[id] = { mark, note: text }
    show()
    const key = newKey()
    try {
      const body = { route: 'mark', version: item.version.id, step: id, mark, note: text, key }
      const [{ at }] = await this.#post(item, 'mark', [body], { key })
      this.topBar.saved(at)
      return true
    } catch (error) {
      if (before) mine[id] = before
      else delete mine[id]
      show()
      this.#refused(item, error)
      return false
    }
  }

  /** Confirm an answer of which the drafter cannot tell: the step of the answer is marked as supported. */
  async confirmAnswer(/** @type {string} */ id) {
    const { item } = this.state
    if (!item || !(await this.mark(id, 'supported'))) return
    this.state.itemChanged(item.id)
    if (!this.state.isShown(item.id)) return
    await this.navigation.refresh()
    this.notices.toast(t('Confirmed: the answer is marked as supported by the data.'))
  }

  /** Give one's own verdict, after which the hidden answer is shown. @param {string} verdict */
  async commitVerdict(verdict) {
    const { item } = this.state
    if (!item?.hidden) return
    try {
      await this.#post(item, 'verdict', [{ route: 'verdict', version: item.version.id, verdict }])
      this.state.itemChanged(item.id)
      if (!this.state.isShown(item.id)) return
      await this.navigation.open(item.id)
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
    if (!item || !version || version === item.version.id || !this.state.isShown(item.id)) return
    await this.navigation.refresh()
    this.notices.toast(t('Saved as a version.'))
  }

  /**
   * Save the edits as a version.
   * @returns {Promise<number | null>} the version, or null where it was refused; the text is kept then
   */
  async saveVersion() {
    await this.editing.changesMade()
    const { draft, item } = this.state
    if (!draft || !item) return null
    if (!draft.dirty) return item.version.id
    const { steps } = draft
    const body = versionOf(item, draft)
    try {
      const [saved] = await this.#post(item, 'version', [body], { key: body.key, leased: true })
      if (draft.steps === steps) draft.close()
      this.topBar.saved(saved.at)
      this.state.itemChanged(item.id)
      return saved.version
    } catch (error) {
      await this.#versionRefused(item, steps, error)
      return null
    }
  }

  /** @param {Item} item @param {Step[]} steps the text @param {any} error */
  async #versionRefused(item, steps, error) {
    if (!this.state.isShown(item.id) || error.kind === 'held') return // the lease shows who has the item
    if (error.kind === 'version_moved') {
      const { number, author, steps: theirs } = error.detail
      this.recovery.resolveConflict({
        message: error.message,
        base: item.version.id,
        mine: steps,
        theirs,
        whose: `v${number} by ${author ?? '?'}`,
      })
    } else if (ITEM_CHANGED.includes(error.kind)) await this.#showPresentItem(item, error)
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
      const [version] = await this.#post(item, 'medium', [{ route: 'medium', base, medium, key }], {
        key,
        leased: true,
      })
      this.topBar.saved(version.at)
      this.state.itemChanged(item.id)
      if (!this.state.isShown(item.id)) return
      await this.navigation.refresh()
      this.notices.toast(
        t('The wavelengths are in {medium}, stated by you. Saved as version {number}.', {
          medium,
          number: version.number,
        }),
      )
    } catch (error) {
      if (!this.state.isShown(item.id) || /** @type {any} */ (error).kind === 'held') return
      if (error instanceof Refused && ITEM_CHANGED.includes(error.kind)) await this.#showPresentItem(item, error)
      else this.notices.error(error)
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
    if (newRound) {
      this.notices.toast(
        t('This item is in another round now: {round}. First press “Go on in this round”.', { round: word(newRound) }),
      )
      return
    }
    if (this.#deciding.has(item.id) || outbox.decisionOn(item.id)) {
      if (outbox.isUnsent(item.id)) this.notices.toast(NOT_SENT)
      return
    }
    const offered = item.may.verbs.find((offer) => offer.verb === verb)
    const refusal = offered && refusalOf(offered, draft.dirty)
    if (!offered || refusal) {
      this.notices.toast(refusal ?? t('“{verb}” is not possible in this round.', { verb }))
      return
    }
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
      await this.editing.changesMade()
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
    const { current, draft, filter, query, verdictFirst, visit } = this.state
    if (!draft) return
    const following = current?.place?.next[0] ?? null
    const shownNext = stay ? item.id : following
    const opens = shownNext && { item: shownNext, filter: bodyOf(filter), verdict_first: verdictFirst }
    const { steps, comment: typed } = draft
    const key = this.state.decisionKey
    const worked = this.workTime.spent(item.id)
    /** @type {Record<string, any>[]} */
    let before = verb === 'submit' && draft.dirty ? [versionOf(item, draft)] : []
    let version = item.version.id
    let open = SENDS_ON.includes(verb) ? (this.statements.known ?? []) : []
    try {
      for (;;) {
        if (open.length && !(await this.#confirmed(verb, open))) {
          if (version !== item.version.id) await this.navigation.refresh()
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
          await this.#decided(item, verb, answers.at(-1), sentFrom)
          return
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
      if (before.length) {
        await this.#versionRefused(item, steps, error)
        return
      }
      const changed = error instanceof Refused && ITEM_CHANGED.includes(error.kind)
      if (version !== item.version.id || changed) await this.#showPresentItem(item, /** @type {Error} */ (error))
      else if (error instanceof Refused && error.kind === 'held') this.lease.refuse(error, item)
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
    this.workTime.decided(item.id)
    // Text typed meanwhile is kept as unsent text on the earlier version.
    for (const written of new Set([draft, this.recovery.drafts.get(item.id)])) written?.decided(steps, typed)
    state.lastDecided = { id: item.id, name: item.row.name }
    this.topBar.saved(new Date().toISOString())
    const isSameList = query === state.query
    const change = { state: answer.state, cast: answer.done, needed: answer.needed }
    state.itemChanged(item.id, change, isSameList ? answer.listed : undefined)
    const done = sentence(item, verb, answer)
    if (!state.isShown(item.id)) {
      this.notices.toast(t('#{item} {name}: {done}', { item: item.id, name: item.row.name, done }))
      return
    }
    this.notices.toast(done)
    this.lease.finish()
    const brought = answer.opening && isSameList ? await this.#admitted(answer.opening, query) : null
    if (!state.isShown(item.id)) return
    if (state.visit !== visit) await this.navigation.open(item.id)
    else if (stay) await this.navigation.open(item.id, { brought })
    else await this.navigation.next(following, brought)
  }

  /**
   * The item that an answer has brought; null where its data cannot be had, which opening it will report.
   * @param {Opening} opening @param {string} query @returns {Promise<LoadedItem | null>}
   */
  #admitted(opening, query) {
    return this.items.admit(opening, query).catch(() => null)
  }

  /** @param {string} verb @param {import('./statements.js').Disagreement[]} open */
  async #confirmed(verb, open) {
    const choice = await dialogs.confirmDisagreements(open, ALL_THE_SAME[verb])
    if (choice === 'first') this.view.select(open[0].step)
    return choice === 'confirm'
  }

  /**
   * Load an item that has changed; show who changed it, or else why the request was refused.
   * @param {Item} item @param {Error} error
   */
  async #showPresentItem(item, error) {
    const { state } = this
    if (!state.isShown(item.id)) return
    const kept = state.dirty ? t(' What you wrote is kept as unsent text.') : ''
    try {
      await this.navigation.refresh()
      if (state.item && state.dirty) await this.lease.take(state.item)
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
    const { item, lastDecided, visit } = this.state
    const about = item?.may.undo ? item : null
    const id = about?.id ?? lastDecided?.id
    if (!id) {
      this.notices.toast(t('You have made no decision here that can be undone.'))
      return
    }
    const name = about?.row.name ?? lastDecided?.name ?? ''
    const key = newKey()
    const parts = [{ path: `/api/v1/item/${id}/undo`, body: { key } }]
    try {
      const sent = {
        key,
        kind: /** @type {const} */ ('undo'),
        item: id,
        name,
        version: null,
        lane: `item ${id}`,
        parts,
      }
      const [answer] = await outbox.send(sent, { inFront: () => this.state.visit === visit })
      this.state.lastDecided = null
      this.state.itemChanged(id, { state: answer.state })
      this.notices.toast(t('Undone. Now: {state}', { state: word(answer.state) }))
      if (this.state.visit !== visit) return
      this.state.undone = id
      await this.navigation.open(id)
    } catch (error) {
      if (this.state.visit === visit) this.notices.error(error)
    }
  }
}

/** The request that saves a text as a version. @param {Item} item @param {import('./drafts.js').Draft} draft */
const versionOf = (item, { steps, comment }) => ({
  ...{ route: 'version', base: item.version.id, steps, reason: comment, key: newKey() },
})

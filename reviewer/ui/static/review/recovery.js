// Recovery of unsent texts, from this page, from the browser's storage and from the server. Where two of them differ,
// one is shown and the other is offered for comparison; none replaces another by itself.

import { t } from '../common/language.js'
import { postJSON } from '../common/http.js'
import * as dialogs from './dialogs.js'
import { Draft, LocalCopies, asText, digest } from './drafts.js'
import { sameSteps } from '../trace/steps.js'

/** @param {string} iso */
const clock = (iso) => new Date(iso).toLocaleTimeString('sv')

export class Recovery {
  /**
   * @param {{state: import('./state.js').ReviewState, notices: import('../common/notices.js').Notices,
   *   topBar: import('../status/page_status.js').TopBar, refresh: () => Promise<void>}} parts `topBar` shows whether
   *   the text is saved; `refresh` loads and draws the item shown again
   */
  constructor({ state, notices, topBar, refresh }) {
    this.state = state
    this.notices = notices
    this.topBar = topBar
    this.refresh = refresh
    this.copies = new LocalCopies(state.me.initials)
    /** @type {Map<number, Draft>} by item: one may be left and opened again before the server has its text */
    this.drafts = new Map()
  }

  /** Whether closing the page would lose a text that neither the server nor the browser has. */
  get onlyOnPage() {
    return [...this.drafts.values()].some((draft) => !draft.closed && draft.onlyOnPage)
  }

  /** Send what is unsent, since the server answers again. */
  flush() {
    for (const draft of this.drafts.values()) draft.flush()
  }

  /** Begin a draft of an item, with what was written on it before. @param {Item} item @param {boolean} sameItem */
  begin(item, sameItem) {
    const former = this.drafts.get(item.id)
    const draft = new Draft(item, this.copies, {
      onSaved: (iso) => {
        this.topBar.saved(iso)
        this.notices.happened('saved')
      },
      onUnsaved: (error) => {
        this.topBar.notSaved(error.message)
        if (error.kind === 'store') this.notices.show(error.message, { until: 'saved' })
      },
      onOther: (other) => this.#keepOther(item, draft, other),
    })
    this.state.draft = draft
    this.notices.clear()
    this.drafts.set(item.id, draft)
    if (former && !former.closed && former.base === item.version.id) {
      draft.takeOver(former, item.may.edit === null && !item.hidden)
      if (draft.dirty && !sameItem) this.#restored(t('Your unsent text has been restored.'))
      return
    }
    former?.stop() // written on an earlier version: kept in the browser, or on the server under that version
    if (!item.hidden) this.#restore(item, draft)
  }

  /** @param {Item} item @param {Draft} draft */
  #restore(item, draft) {
    const onServer = item.autosave
    const stored = this.#stored(item)
    const mine = stored.find((entry) => entry.base === item.version.id)
    const editable = item.may.edit === null
    const continueWith = (
      /** @type {import('./drafts.js').StoredText | null} */ entry,
      /** @type {any} */ body,
      at,
    ) => {
      draft.restore(body.steps, body.comment, entry)
      if (draft.dirty) this.#restored(t('Your unsent text of {at} has been restored.', { at: clock(at) }))
    }
    const serverIsCurrent = onServer?.base === item.version.id
    // Whether the browser's text continues the server's: nothing came between them from another page.
    const continues =
      mine && (!serverIsCurrent || onServer.at === mine.after || mine.sent?.includes(digest(asText(onServer.body))))
    if (continues && editable) continueWith(mine, mine, mine.at)
    else if (serverIsCurrent && editable) {
      continueWith(null, onServer.body, onServer.at)
      if (mine) this.#offer(mine)
    } else if (continues) draft.comment = mine.comment ?? ''
    else if (serverIsCurrent) draft.comment = onServer.body.comment ?? ''
    else this.#offerEarlier(item, stored[0], onServer)
  }

  /** The copies in the browser without those that the server has too, as autosave or as version. @param {Item} item */
  #stored(item) {
    const onServer = item.autosave
    const known = onServer && asText(onServer.body)
    return this.copies.find(item).filter((entry) => {
      const isAutosave = entry.base === onServer?.base
      const same = isAutosave ? asText(entry) === known : sameSteps(entry.steps, item.trajectory.steps)
      if (same) this.copies.forget(entry)
      return !same
    })
  }

  /**
   * Offer a text written on a version that is no longer the current one.
   * @param {Item} item @param {{base: number, steps: Step[], at: string} | undefined} stored
   * @param {Autosave | null} onServer
   */
  #offerEarlier(item, stored, onServer) {
    const unsent = stored ?? (onServer?.body.steps ? { ...onServer, steps: onServer.body.steps } : null)
    if (!unsent) return
    const { number, author } = item.version
    const conflict = {
      message: t('Your unsent text was written on an earlier version.'),
      ...{ base: unsent.base, mine: unsent.steps, theirs: item.trajectory.steps },
      whose: `v${number} by ${author ?? t('the drafter')}`,
    }
    this.notices.show(t('You have unsent text of {at}, written on an earlier version.', { at: clock(unsent.at) }), {
      label: t('Compare'),
      onClick: () => this.resolveConflict(conflict),
    })
  }

  /** A decision that an earlier page had left was accepted: its comment is unsent no more. */
  forgetComment(/** @type {number} */ item, /** @type {number} */ version, /** @type {string} */ comment) {
    this.copies.forgetComment(item, version, comment)
    const draft = this.drafts.get(item)
    if (draft?.comment.trim() === comment) draft.decided(draft.steps, draft.comment)
  }

  /** @param {string} message */
  #restored(message) {
    this.notices.show(message, { label: t('Discard it'), onClick: () => this.discard() })
  }

  /**
   * Keep the text of another page of this person in the browser, since it was replaced on the server.
   * @param {Item} item @param {Draft} draft @param {Autosave} other
   */
  #keepOther(item, draft, { at, body }) {
    this.copies.keep(item, { .../** @type {any} */ (body), after: null, sent: [] }, `other-${at}`)
    const entry = this.copies.find(item).find(({ name }) => name.endsWith(`other-${at}`))
    if (entry && this.state.draft === draft) this.#offer(entry)
  }

  /** @param {import('./drafts.js').StoredText} entry */
  #offer(entry) {
    const { state } = this
    const compare = async () => {
      const choice = await dialogs.openTexts(entry.steps, state.steps)
      if (choice === 'discard') this.copies.forget(entry)
      if (choice !== 'rebase' || !state.editable) return
      state.changeSteps(entry.steps)
      state.draft?.adopted.push(entry)
    }
    this.notices.show(
      t('You have written on this item in another tab or on another machine as well. Both texts are ' + 'kept.'),
      { label: t('Compare'), onClick: compare },
    )
  }

  /**
   * Let the person choose between their text and a later version by another person.
   * @param {{message: string, base: number, mine: Step[], theirs: Step[], whose: string}} conflict
   *   `base`: the version that `mine` was written on, under which it is kept
   */
  async resolveConflict({ message, base, mine, theirs, whose }) {
    const { state } = this
    const choice = await dialogs.openConflict(message, mine, theirs, whose)
    const { item } = state
    if (!choice || !item) return
    if (choice === 'discard') await this.#discardOn(item, base)
    await this.refresh()
    if (choice !== 'rebase' || !state.editable || !state.isShown(item.id)) return
    this.notices.clear()
    state.changeSteps(mine)
    await state.draft?.flush()
    if (!state.draft?.pending) await this.#discardOn(item, base)
  }

  /** Discard what was written on a version of an item, in the browser and on the server. */
  async #discardOn(/** @type {Item} */ item, /** @type {number} */ base) {
    for (const entry of this.copies.find(item)) if (entry.base === base) this.copies.forget(entry)
    await postJSON(`/api/v1/item/${item.id}/discard`, { base, steps: [] }).catch((error) => this.notices.error(error))
  }

  async discard() {
    const { item, draft } = this.state
    if (!item) return
    draft?.discard()
    await this.#discardOn(item, item.version.id)
    await this.refresh()
    this.notices.toast(t('Discarded.'))
  }
}

// What was written and not sent, found again: in this page, in the browser's own storage, on the server. Where two of these
// differ, one is shown and the other is offered beside it; none takes another's place by itself.

import { postJSON } from '../common/http.js'
import * as dialogs from './dialogs.js'
import { sameSteps } from '../trace/steps.js'
import { Drafting, KeptText, asText, digest } from './drafts.js'

const clock = (iso) => new Date(iso).toLocaleTimeString('sv')

export class Unsent {
  /** @param desk  the Review page  @param {string} who  initials */
  constructor(desk, who) {
    this.desk = desk
    this.kept = new KeptText(who)
    this.written = new Map() // by item: it may be left and come back to before the server has what was typed
  }

  /** Whether closing the page would lose something: neither the server nor the browser has it. */
  get onlyHere() {
    return [...this.written.values()].some((drafting) => !drafting.closed && drafting.onlyHere)
  }

  /** Send what waits, the server being back. */
  flush() {
    for (const drafting of this.written.values()) drafting.flush()
  }

  /** Begin on an item as it is now, with what was written on it before. */
  begin(item, { keepView = false } = {}) {
    const { desk } = this
    const former = this.written.get(item.id)
    const drafting = (desk.drafting = new Drafting(item, this.kept, {
      onSaved: (iso) => {
        desk.top.saved(iso)
        desk.over('heard')
      },
      onUnsaved: (error) => {
        desk.top.unsaved(error.message)
        if (error.kind === 'store') desk.tell(error)
      },
      onOther: (other) => this.#replaced(item, drafting, other),
    }))
    desk.notice(null)
    this.written.set(item.id, drafting)
    if (former && !former.closed && former.base === item.version.id) {
      drafting.takeOver(former, item.may.edit === null && !item.hidden)
      if (drafting.dirty && !keepView) this.#hereAgain('Your unsent text is here again.')
      return
    }
    former?.stop() // written on an earlier version: kept in the browser, or on the server under that version
    if (!item.hidden) this.#restore(item, drafting)
  }

  #restore(item, drafting) {
    const onServer = item.autosave
    const here = this.#inBrowser(item, onServer)
    const mine = here.find((entry) => entry.base === item.version.id)
    const editable = item.may.edit === null
    const continued =
      mine &&
      (onServer?.base !== item.version.id ||
        onServer.at === mine.after ||
        mine.sent?.includes(digest(asText(onServer.body))))
    if (continued && editable) {
      drafting.restore(mine.steps, mine.comment, mine)
      if (drafting.dirty) this.#hereAgain(`Your unsent text of ${clock(mine.at)} is here again.`)
    } else if (onServer?.base === item.version.id && editable) {
      drafting.restore(onServer.body.steps, onServer.body.comment)
      if (mine) this.#offer(mine)
      else if (drafting.dirty) this.#hereAgain(`Your unsent text of ${clock(onServer.at)} is here again.`)
    } else if (continued || onServer?.base === item.version.id) {
      drafting.comment = (continued ? mine : onServer.body).comment ?? ''
    } else this.#earlier(item, here[0], onServer)
  }

  /** What the browser kept, less what the server has as well: as unsent text, or saved under an answer that was lost. */
  #inBrowser(item, onServer) {
    const known = onServer && asText(onServer.body)
    return this.kept.found(item).filter((entry) => {
      const same =
        entry.base === onServer?.base ? asText(entry) === known : sameSteps(entry.steps, item.trajectory.steps)
      if (same) this.kept.forget(entry)
      return !same
    })
  }

  /** Written on a version that is no longer the current one. */
  #earlier(item, kept, onServer) {
    const found =
      kept ?? (onServer?.body.steps ? { base: onServer.base, steps: onServer.body.steps, at: onServer.at } : null)
    if (!found) return
    this.desk.notice(`You have unsent text of ${clock(found.at)}, written on an earlier version.`, 'Compare', () => {
      const { version, trajectory } = item
      return this.desk.deciding.conflict(
        'Your unsent text was written on an earlier version.',
        found.base,
        found.steps,
        trajectory.steps,
        `v${version.number} by ${version.author ?? 'the drafter'}`,
      )
    })
  }

  #hereAgain(sentence) {
    this.desk.notice(sentence, 'Discard it', () => this.discard())
  }

  /** The server had a text of another page of this person: it is replaced there, so it is kept here. */
  #replaced(item, drafting, { at, body }) {
    this.kept.keep(item, { ...body, after: null, sent: [] }, `other-${at}`)
    const entry = this.kept.found(item).find(({ name }) => name.endsWith(`other-${at}`))
    if (entry && this.desk.drafting === drafting) this.#offer(entry)
  }

  #offer(entry) {
    this.desk.notice(
      'You have written on this item in another tab or on another machine as well. Both texts are kept.',
      'Compare',
      () => this.#compare(entry),
    )
  }

  async #compare(entry) {
    const { desk } = this
    const choice = await dialogs.openTexts(entry.steps, desk.drafting.steps)
    if (choice === 'discard') this.kept.forget(entry)
    if (choice !== 'rebase' || !desk.editable) return
    desk.editing.restep(entry.steps)
    desk.drafting.adopted.push(entry)
  }

  /** Its writer has thrown away what was written on a version of an item, here or elsewhere. */
  async discardOn(item, base) {
    for (const entry of this.kept.found(item)) if (entry.base === base) this.kept.forget(entry)
    await postJSON(`/api/item/${item.id}/discard`, { base, steps: [] }).catch((error) => this.desk.tell(error))
  }

  async discard() {
    const { item } = this.desk.current
    this.desk.drafting.discard()
    await this.discardOn(item, item.version.id)
    await this.desk.refresh('Discarded.')
  }
}

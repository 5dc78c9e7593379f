// The comments of the item shown: a panel under the trace, with a field for a new one, and marks on the cards of steps.

import { address } from '../common/address.js'
import { lasting } from '../common/browser_storage.js'
import { cap, fill, h } from '../common/dom.js'
import { getJSON, newKey, postJSON } from '../common/http.js'
import { t, tn } from '../common/language.js'
import { outbox } from '../status/outbox.js'
import { UnsentAnswer } from '../review/dialogs.js'
import { CommentField } from './field.js'
import { ThreadBox } from './thread.js'

const OPEN = 'so-comments'

export class Comments {
  #ticket = 0
  /** @type {Item | null} */
  #item = null
  /** @type {Discussion | null} */
  #answer = null
  /** @type {Map<number, ThreadBox>} */
  #boxes = new Map()
  /** Comments after this one are new to the person, as long as the item is shown. */
  #newFrom = 0
  /** @type {{item: number, comment: number} | null} the comment to go to once it is here */
  #goTo = null
  /** The step that the new comment is about; '': the whole item. */
  #step = ''
  /** @type {CommentField | null} */
  #field = null

  /**
   * @param {{state: import('../review/state.js').ReviewState, notices: import('../common/notices.js').Notices,
   *   view: import('../review/item_view.js').ItemView, key: string}} options `key`: opens the panel
   */
  constructor({ state, notices, view, key }) {
    this.state = state
    this.notices = notices
    this.view = view
    this.isOpen = lasting.get(OPEN) === 'open'
    this.count = h('span.count')
    const arrow = h('span.arrow', { 'aria-hidden': 'true' })
    const title = [arrow, h('span', t('Comments')), ' ', this.count, h('span.spring'), cap(key)]
    this.button = h('button.toggle', { 'aria-controls': 'so-comments-body', onClick: () => this.toggle() }, title)
    this.hiddenNote = h('p.note', { hidden: true })
    this.threads = h('div.threads')
    const scrolled = h('div.scrolled', this.hiddenNote, this.threads)
    const onChange = () => this.#choose(this.about.value)
    this.about = h('select', { 'aria-label': t('What the comment is about'), onChange })
    this.composer = h('div.composer', h('label', t('New comment on'), ' ', this.about))
    this.body = h('div.body', { id: 'so-comments-body' }, scrolled, this.composer)
    this.root = h('section.comments', { 'aria-label': t('Comments'), hidden: true }, this.button, this.body)
    this.#setOpen(this.isOpen)
    document.addEventListener('visibilitychange', () => this.#markRead())
    this.state.on('item', () => this.#begin(this.state.item))
    this.state.on('opening', ({ comments }) => this.#take(comments))
  }

  /** @param {Item | null} item that is shown; null: none is */
  #begin(item) {
    // What was shown of an item whose answer is hidden now must not stay.
    const same = item !== null && item.id === this.#item?.id && item.hidden === this.#item.hidden
    this.#item = item
    this.root.hidden = item === null
    if (!same) this.#clear()
    else this.#drawComposer()
  }

  /** The comments of the item shown have come with it. @param {Discussion} discussion */
  #take(discussion) {
    // A comment that was sent meanwhile is in a later answer. Where more is hidden than before, what is shown must go.
    const known = this.#answer
    if (known && known.hidden >= discussion.hidden && newestOf(known) > newestOf(discussion)) return
    this.#ticket++
    this.#shown(discussion)
  }

  #clear() {
    this.#ticket++
    this.#answer = null
    this.#boxes.clear()
    this.#step = ''
    this.#field = null
    this.hiddenNote.hidden = true
    fill(this.threads)
    this.#drawCount()
    this.#drawComposer()
  }

  async #load() {
    const item = this.#item
    if (!item) return
    const ticket = ++this.#ticket
    const answer = await getJSON(this.#path('comments'))
    if (ticket === this.#ticket && item.id === this.#item?.id) this.#shown(answer)
  }

  /** Fetch the comments of the item shown again. */
  async reload() {
    const item = this.#item
    const known = this.#answer
    await this.#load()
    if (!known || item?.id !== this.#item?.id) return // its comments are no news
    const before = new Set(commentsOf(known).map(({ id }) => id))
    const { initials } = this.state.me
    const last = commentsOf(this.#answer).findLast(({ id, person }) => !before.has(id) && person !== initials)
    if (last) this.notices.toast(t('{person} commented on this item.', { person: last.person ?? last.source }))
  }

  /** @param {string} what @param {boolean} [asks] whether the answer depends on what is hidden */
  #path(what, asks = true) {
    const query = asks && this.state.verdictFirst ? '?verdict_first=true' : ''
    return address(`/api/v1/item/${this.#item?.id}/${what}${query}`)
  }

  /** @param {Discussion} answer */
  #shown(answer) {
    if (this.#answer === null) this.#newFrom = answer.read
    this.#answer = answer
    for (const thread of answer.threads) {
      const box = this.#boxes.get(thread.id)
      if (box) box.update(thread)
      else this.#addThread(thread)
    }
    for (const [id, box] of this.#boxes) {
      if (answer.threads.some((thread) => thread.id === id)) continue
      box.root.remove()
      this.#boxes.delete(id)
    }
    this.hiddenNote.hidden = answer.hidden === 0
    this.hiddenNote.textContent = this.#item?.hidden
      ? tn(
          '{n} comment by others is shown after your verdict.',
          '{n} comments by others are shown after your verdict.',
          answer.hidden,
        )
      : tn(
          '{n} comment by others is shown after your decision.',
          '{n} comments by others are shown after your decision.',
          answer.hidden,
        )
    this.#drawCount()
    this.#drawComposer()
    this.view.showThreads(this.#bySteps(answer.threads))
    this.#arrive()
    this.#markRead()
  }

  /** @param {CommentThread} thread */
  #addThread(thread) {
    const { id } = thread
    const item = /** @type {Item} */ (this.#item)
    const resolve = async (resolved) => {
      const body = { resolved, key: newKey() }
      try {
        await this.#send(item, 'thread', this.#path(`thread/${id}`, false), body, () => {})
      } catch (error) {
        if (item.id === this.#item?.id) this.notices.error(error)
      }
    }
    const box = new ThreadBox(thread, {
      isNew: (comment) => this.#isNew(comment),
      unsent: this.#unsent(`thread ${id}`),
      people: this.#people,
      about: (step) => this.#nameOf(step, thread),
      onStep: (step) => this.view.select(step),
      onReply: (text, key, onWait) => this.#post({ text, key, thread: id }, onWait),
      onResolve: resolve,
    })
    // A thread that was hidden until now may be older than those on the page.
    const next = [...this.#boxes.values()].find((other) => other.thread.id > id)
    this.threads.insertBefore(box.root, next?.root ?? null)
    this.#boxes.set(id, box)
    box.field.resume()
  }

  #people = () => this.#answer?.people ?? []

  #unsent(what) {
    return new UnsentAnswer(this.state.me.initials, /** @type {Item} */ (this.#item), `comment ${what}`)
  }

  /** @param {string} id of a step @param {CommentThread} thread */
  #nameOf(id, { number }) {
    const step = this.state.step(id)
    const current = this.#item?.version.number
    if (!step) return t('A step of version {version}', { version: number })
    const name = stepName(this.state.numberOf(id), step.kind)
    return number === current ? name : t('{step}, on version {version}', { step: name, version: number })
  }

  #post(comment, onWait) {
    return this.#send(/** @type {Item} */ (this.#item), 'comment', this.#path('comments'), comment, onWait)
  }

  /**
   * @param {Item} item @param {'comment' | 'thread'} kind @param {string} path
   * @param {Record<string, any> & {key: string}} body @param {() => void} onWait
   */
  async #send(item, kind, path, body, onWait) {
    const { id, row, version } = item
    const about = { item: id, name: row.name, version: { id: version.id, at: version.at }, lane: `item ${id}` }
    const inFront = () => id === this.#item?.id
    const unsent = this.#unsent(body.thread === undefined ? `step ${body.step}` : `thread ${body.thread}`)
    await outbox.send({ ...about, kind, key: body.key, parts: [{ path, body }] }, { inFront, onWait })
    if (kind === 'comment') unsent.forget()
    if (id === this.#item?.id) await this.#load().catch((error) => this.notices.error(error))
  }

  // ---- the panel

  #drawCount() {
    const comments = commentsOf(this.#answer)
    const number = comments.length + (this.#answer?.hidden ?? 0)
    const fresh = comments.filter((comment) => this.#isNew(comment))
    fill(
      this.count,
      number > 0 && h('span.pill.grey', String(number)),
      fresh.length > 0 && [' ', h('span.pill.amber', tn('{n} new', '{n} new', fresh.length))],
    )
    this.button.classList.toggle('some', number > 0)
  }

  /** @param {CommentSent} comment */
  #isNew(comment) {
    return comment.id > this.#newFrom && comment.person !== this.state.me.initials && !comment.source
  }

  /** What the new comment can be about: the whole item, or one of the steps on the page. @returns {void} */
  #drawComposer() {
    const item = this.#item
    if (!item) return
    const steps = item.trajectory.steps.map(({ id, kind }) => [id, stepName(this.state.numberOf(id), kind)])
    const choices = [['', t('the whole item')], ...steps].map(([value, name]) => {
      const begun = Boolean(this.#unsent(`step ${value}`).read()?.text)
      return { value, begun, name: begun ? t('{step} (unsent text)', { step: name }) : name }
    })
    fill(this.about, ...choices.map(({ value, name }) => h('option', { value }, name)))
    this.about.value = this.#step
    if (this.#field) return this.#field.peopleCame()
    // Text that was typed before a reload is offered first.
    this.#step = choices.find(({ begun }) => begun)?.value ?? ''
    this.about.value = this.#step
    const words = { label: t('New comment'), hint: t('Write to the others …'), action: t('Send') }
    const unsent = this.#unsent(`step ${this.#step}`)
    const send = (text, key, onWait) =>
      this.#post({ text, key, step: this.#step, version: this.#item?.version.id }, onWait)
    this.#field = new CommentField({ ...words, unsent, people: this.#people, send })
    this.composer.querySelector('.comment-field')?.remove()
    this.composer.append(this.#field.root)
    return this.#field.resume()
  }

  #choose(step) {
    this.#step = step
    this.#drawComposer()
    this.#field?.use(this.#unsent(`step ${step}`))
  }

  #setOpen(open) {
    this.isOpen = open
    lasting.set(OPEN, open ? 'open' : 'closed')
    this.body.hidden = !open
    this.root.classList.toggle('open', open)
    this.button.setAttribute('aria-expanded', String(open))
  }

  toggle() {
    this.#setOpen(!this.isOpen)
    if (this.isOpen) this.threads.querySelector('li .pill.amber')?.scrollIntoView({ block: 'nearest' })
    this.#markRead()
  }

  /** Open the panel and write: about a step, or about the whole item. @param {string | null} step null: as it was */
  write(step = null) {
    if (!this.#item) return
    this.#setOpen(true)
    if (step !== null && step !== this.#step) this.#choose(step)
    this.#field?.focus()
    this.#markRead()
  }

  /** A card's button: go to the threads about its step, or begin one. @param {string} step */
  openStep(step) {
    if (!this.#item?.trajectory.steps.some(({ id }) => id === step))
      return this.notices.toast(t('This step is not saved yet. Save the version, then comment on it.'))
    const box = [...this.#boxes.values()].find(({ thread }) => thread.step === step && !thread.resolved)
    this.write(step)
    return box?.root.scrollIntoView({ block: 'nearest' })
  }

  /** Go to a comment, as soon as its item is shown. @param {number} item @param {number} comment */
  goTo(item, comment) {
    this.#goTo = { item, comment }
    this.#setOpen(true)
    if (item === this.#item?.id) this.#load().catch((error) => this.notices.error(error))
  }

  #arrive() {
    if (this.#goTo?.item !== this.#item?.id) return
    const to = document.getElementById(`so-comment-of-${this.#goTo?.comment}`)
    this.#goTo = null
    to?.scrollIntoView({ block: 'nearest' })
    to?.focus({ preventScroll: true })
  }

  /** What is on the screen is read. */
  #markRead() {
    const item = this.#item
    const known = this.#answer
    if (!item || !known || !this.isOpen || document.hidden || !this.root.getClientRects().length) return
    const { initials } = this.state.me
    if (!commentsOf(known).some(({ id, person }) => id > known.read && person !== initials)) return
    postJSON(this.#path('comments/read'), { comment: newestOf(known) })
      .then(({ comment }) => {
        known.read = Math.max(known.read, comment)
        this.state.dispatch('read', { id: item.id })
      })
      .catch(() => {}) // the connection strip shows a server that is away; they stay unread
  }

  // ---- the cards

  /** @param {CommentThread[]} threads @returns {Record<string, StepThreads>} */
  #bySteps(threads) {
    /** @type {Record<string, StepThreads>} */
    const steps = {}
    for (const { step, comments, resolved } of threads) {
      if (!step) continue
      const of = (steps[step] ??= { comments: 0, open: 0, fresh: 0 })
      of.comments += comments.length
      of.open += resolved ? 0 : 1
      of.fresh += comments.filter((comment) => this.#isNew(comment)).length
    }
    return steps
  }
}

/** @param {number | string} number @param {Step['kind']} kind */
const stepName = (number, kind) =>
  ({
    think: t('step {number}, think', { number }),
    zoom: t('step {number}, zoom', { number }),
    answer: t('step {number}, answer', { number }),
  })[kind]

/** @param {Discussion | null} discussion */
const commentsOf = (discussion) => discussion?.threads.flatMap(({ comments }) => comments) ?? []

/** The newest comment, 0 where there is none. @param {Discussion} discussion */
const newestOf = (discussion) => Math.max(0, ...commentsOf(discussion).map(({ id }) => id))

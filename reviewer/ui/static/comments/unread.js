// Unread comments: a button at the right end of the tab row, with the list of them.

import { fill, h } from '../common/dom.js'
import { dateAndTime } from '../common/format.js'
import { getJSON } from '../common/http.js'
import { idle } from '../common/idle.js'
import { t, tn } from '../common/language.js'
import { sheetOf } from '../common/popover.js'

const SHOWN = 160 // characters of a comment in the list

/** Events: "news" when there is a newer comment on any item than before. */
export class Unread extends EventTarget {
  #stamp = /** @type {number | null} */ (null)
  #newest = -1
  #ticket = 0
  /** @type {UnreadItem[]} */
  #items = []
  #total = 0

  /**
   * @param {import('../review/state.js').ReviewState} state
   * @param {(item: number, comment: number) => void} onOpen a comment was chosen
   */
  constructor(state, onOpen) {
    super()
    this.state = state
    this.onOpen = onOpen
    this.button = h('button.so-unread', { hidden: true, title: t('Unread comments') })
    this.sheet = sheetOf(this.button, 'div.so-unread-list', t('Unread comments'), () => this.#content())
    document.querySelector('.so-unread-place')?.remove()
    this.root = h('span.so-unread-place', this.button, this.sheet)
    const reload = () => this.#load().catch(() => {}) // the connection strip shows a server that is away
    state.on('opening', ({ unread, stamp }) => this.#take(unread, stamp))
    state.on('stamp', ({ stamp }) => {
      if (stamp === this.#stamp) return
      this.#stamp = stamp
      reload()
    })
    state.on('read', reload)
    state.on('verdict-first', reload)
  }

  /** @param {UnreadComments} unread as it came with another answer @param {number} stamp of that answer */
  #take(unread, stamp) {
    if (this.#stamp !== null && stamp < this.#stamp) return // something newer has come, or is on its way
    this.#stamp = stamp
    this.#ticket++
    this.#show(unread)
  }

  async #load() {
    const ticket = ++this.#ticket
    await idle() // the item that is being opened comes first
    if (ticket !== this.#ticket) return
    const unread = await getJSON(`/api/v1/comments/unread${this.state.verdictFirst ? '?verdict_first=true' : ''}`)
    if (ticket === this.#ticket) this.#show(unread) // an answer to a later request has what was read since
  }

  /** @param {UnreadComments} unread */
  #show(unread) {
    this.#items = unread.items
    this.#total = unread.total
    const news = this.#newest >= 0 && unread.newest > this.#newest
    this.#newest = unread.newest
    this.button.hidden = unread.total === 0
    this.button.textContent = tn('{n} unread', '{n} unread', unread.total)
    if (this.sheet.matches(':popover-open')) {
      if (unread.total) fill(this.sheet, this.#content())
      else this.sheet.hidePopover()
    }
    if (news) this.dispatchEvent(new Event('news'))
  }

  #content() {
    const more = this.#total - this.#items.length
    const list = h('ul', ...this.#items.map((comment) => h('li', this.#link(comment))))
    const older = more > 0 && h('p.muted', tn('and {n} older one', 'and {n} older ones', more))
    return [h('h2', t('Unread comments')), list, older]
  }

  /** @param {UnreadItem} comment */
  #link(comment) {
    const open = (event) => {
      event.preventDefault()
      this.sheet.hidePopover()
      this.onOpen(comment.item, comment.comment)
    }
    const { item, person, name, mentioned, at } = comment
    const about = h(
      'span.about',
      person && h('strong', person),
      h('bdi.name', name),
      mentioned && h('span.pill.amber', t('mentions you')),
      at && h('time.muted', { dateTime: at }, dateAndTime(at)),
    )
    return h('a', { href: `#item=${item}`, onClick: open }, about, h('span.text', { dir: 'auto' }, textOf(comment)))
  }
}

/** @param {UnreadItem} comment */
function textOf({ hidden, text, item, person, mentioned }) {
  if (!hidden) return text.length > SHOWN ? `${text.slice(0, SHOWN)} …` : text
  if (mentioned && person)
    return t('{person} mentioned you on item {item}; shown after your decision.', { person, item })
  return t('A comment on item {item}; shown after your decision.', { item })
}

// The decision bar: at the same place in every round; only its verbs change. Each button shows its key.

import { t, tn, withParts, word } from '../common/language.js'
import { cap, fill, h, refill } from '../common/dom.js'
import { isComposing } from '../common/keys.js'
import { outbox } from '../status/outbox.js'

const ACTION = {
  keep: 'decide-yes',
  submit: 'decide-yes',
  pass: 'decide-yes',
  approve: 'decide-yes',
  return: 'decide-return',
  reject: 'decide-no',
  abstain: 'decide-abstain',
}
const DOUBLE_CLICK = 500 // ms; the second half would decide the next item, unseen
const STYLE = { 'decide-yes': '.primary', 'decide-no': '.danger' }

export const NOT_SENT = t('Your decision on this item is not sent yet.')

/**
 * Why a decision is not possible; null if it is.
 * @param {OfferedVerb} offered @param {boolean} dirty whether the text is changed: submitting saves the changes first
 */
export const refusalOf = (offered, dirty) => (dirty ? offered.refusal_if_changed : offered.refusal)

export class DecisionBar {
  /** @type {{at: number, item: number | undefined} | undefined} */
  #lastClick

  /** Whether the bar shows that a decision waits to be sent. */
  #unsentShown = false

  /**
   * @param {{state: import('./state.js').ReviewState, statements: import('./statements.js').Statements,
   *   keys: import('../common/keys.js').Keys, act: import('./state.js').Act, queueButton: HTMLElement}} parts
   *   `queueButton` opens the queue where it is not on the page; stands first
   */
  constructor({ state, statements, keys, act, queueButton }) {
    this.state = state
    this.statements = statements
    this.keys = keys
    this.act = act
    this.root = h('div.decision-bar', { role: 'toolbar', 'aria-label': t('Decision') })
    // What stands on either side of the comment, which stays in its place: it would lose the focus, and with it the
    // keys of the person who is typing.
    this.before = h('div.part')
    this.after = h('div.part')
    this.comment = h('input.comment', {
      type: 'text',
      autocomplete: 'off',
      'aria-label': t('Comment'),
      onInput: (e) => act('typed-comment', e.target.value),
      onKeydown: (e) => {
        if ((e.key === 'Escape' || e.key === 'Enter') && !isComposing(e)) {
          e.preventDefault()
          e.stopPropagation()
          e.target.blur()
        }
      },
    })
    fill(this.root, queueButton, this.before, this.comment, this.after)
    state.on('item', () => {
      this.comment.value = state.draft?.comment ?? ''
      this.#update()
      if (state.newRound) this.#focusNewRound()
    })
    for (const name of /** @type {const} */ (['version', 'steps', 'round'])) state.on(name, () => this.#update())
    state.on('refused', ({ message }) => this.#update(message))
    statements.addEventListener('change', () => this.#update())
    outbox.addEventListener('change', () => {
      if (this.#isUnsent() !== this.#unsentShown) this.#update()
    })
  }

  /** Whether this person's decision on the item shown waits to be sent. */
  #isUnsent() {
    return this.state.item !== null && outbox.isUnsent(this.state.item.id)
  }

  /** Show the present state. @param {string} [message] shown instead of the item's history */
  #update(message = '') {
    const { dirty, editRefusal, newRound, reading } = this.state
    const disagreements = reading ? 0 : this.statements.disagreements.length
    this.#unsentShown = this.#isUnsent()
    const refusal = reading ? editRefusal : this.#unsentShown && NOT_SENT
    const item = this.state.item && refusal ? toReadOnly(this.state.item, refusal) : this.state.item
    this.itemId = item?.id
    this.comment.hidden = !item
    const undo = this.#button('undo', t('Undo {cap}'), { title: t('undo your last decision') })
    if (!item) {
      this.#fill(this.before, h('span.muted', message), h('span.spring'))
      this.#fill(this.after, undo)
      return
    }
    const key = this.keys.of('comment')
    this.comment.placeholder =
      item.standing.round === 'revision'
        ? t('what was changed and why ({key})', { key })
        : t('comment ({key})', { key })
    this.#fill(
      this.before,
      newRound && !reading ? this.#newRound(item) : item.hidden ? this.#verdicts() : this.#verbs(item, dirty),
      disagreements > 0 && this.#disagreements(disagreements),
    )
    this.#fill(
      this.after,
      this.#info(item, message),
      (item.may.undo || this.state.lastDecided) && undo,
      this.#button('next', t('Next {cap}'), { style: '.next' }),
    )
  }

  /**
   * A button with the key of its action. What decides ignores the second half of a double click.
   * @param {string} action @param {string} text with {cap}, or before the key
   * @param {{name?: string, style?: string, title?: string, refusal?: string | null, decides?: () => void}} [options]
   */
  #button(action, text, { name = action, style = '', title = '', refusal = null, decides } = {}) {
    const onClick = decides ? (/** @type {Event} */ event) => this.#once(event, decides) : () => this.act(action)
    const props = { 'data-action': name, disabled: refusal !== null, title: refusal ?? title, onClick }
    const sign = cap(this.keys.of(action))
    return h(`button${style}`, props, text.includes('{cap}') ? withParts(text, { cap: sign }) : [text, ' ', sign])
  }

  /** Draw a part again; a button that had the focus has it afterwards. @param {HTMLElement} part */
  #fill(part, ...children) {
    const focused = part.contains(document.activeElement) ? document.activeElement?.getAttribute('data-action') : null
    refill(part, ...children)
    if (!focused || part.contains(document.activeElement)) return
    for (const button of part.querySelectorAll('button')) if (button.dataset.action === focused) button.focus()
  }

  #disagreements(count) {
    const title = t('with the tool calls or the answer: go to the first')
    return h(
      'button.link.disagreements',
      { 'data-action': 'disagreements', title, onClick: () => this.act('disagreement') },
      tn('1 statement disagrees', '{n} statements disagree', count),
    )
  }

  /** Stands in place of the verbs, so that no key of the earlier round decides in this one. @param {Item} item */
  #newRound(item) {
    return [
      this.#round(item.standing),
      h('span.ask', t('the same item in another round')),
      h(
        'button.primary.new-round',
        { 'data-action': 'new-round', onClick: (event) => this.#once(event, () => this.act('see-round')) },
        withParts(t('Go on in this round {cap}'), { cap: cap('Enter') }),
      ),
    ]
  }

  /** Let Enter press the button of a new round, unless the person is typing. */
  #focusNewRound() {
    const { activeElement } = document
    if (activeElement && activeElement !== document.body && !this.root.contains(activeElement)) return
    if (activeElement !== this.comment) this.root.querySelector('.new-round')?.focus()
  }

  #verdicts() {
    const button = (name, label, action) => this.#button(action, label, { name, decides: () => this.act(action) })
    return [
      h('span.ask', t('Your verdict first:')),
      button('YES', 'YES', 'verdict-yes'),
      button('NO', 'NO', 'verdict-no'),
      button('cannot tell', word('cannot tell'), 'verdict-cannot-tell'),
    ]
  }

  #verbs(item, dirty) {
    const { round, state } = item.standing
    if (!round) return h(`span.decided.${state.replace(' ', '-')}`, word(state))
    const reject = item.may.verbs.find(({ verb }) => verb === 'reject')
    return [
      this.#round(item.standing),
      item.may.verbs.map((offered) => {
        const { verb, label } = offered
        return this.#button(ACTION[verb], verb === 'submit' && dirty ? t('Save and submit') : label, {
          ...{ name: verb, style: STYLE[ACTION[verb]], refusal: refusalOf(offered, dirty) },
          decides: () => this.act('verb', verb),
        })
      }),
      reject && this.#cannotTell(reject.refusal, item.my_verdict === 'cannot tell'),
    ]
  }

  /** Where the item stands. @param {Item['standing']} standing */
  #round({ state, done, needed }) {
    const name = word(state)
    const progress = needed > 1 ? t('{state} {done} of {wanted}', { state: name, done, wanted: needed }) : name
    return h('span.round', progress)
  }

  /** @param {string | null} refusal @param {boolean} suggested whether it is this person's own verdict */
  #cannotTell(refusal, suggested) {
    const title = t('the data allow neither YES nor NO: the item is decided as “cannot tell” and never training data')
    return this.#button('decide-cannot-tell', t('Cannot tell {cap}'), {
      ...{ name: 'cannot-tell', style: `.cannot-tell${suggested ? '.primary' : ''}`, title, refusal },
      decides: () => this.act('decide-cannot-tell'),
    })
  }

  /** Ignore the second half of a double click if the first half has changed the item. */
  #once(event, act) {
    const last = this.#lastClick
    this.#lastClick = { at: event.timeStamp, item: this.itemId }
    if (last && event.timeStamp - last.at < DOUBLE_CLICK && last.item !== this.itemId) return
    act()
  }

  /** Why nothing can be decided here. */
  #info({ hidden, may }, message) {
    const refused = !hidden && may.verbs.length && may.verbs.every(({ refusal }) => refusal) ? may.verbs[0].refusal : ''
    const text = message || refused
    return text && h('span.info', { title: text }, text)
  }
}

/**
 * The verb that an action means in the round of this item: "decide-yes" is keep, submit, pass or approve.
 * @param {Item | null} item @param {string} action
 */
export const verbFor = (item, action) => item?.may.verbs.find((v) => ACTION[v.verb] === action)?.verb ?? null

/**
 * An item on which nothing can be decided, because an earlier version of it is shown or a decision waits to be sent.
 * @param {Item} item @param {string} refusal @returns {Item}
 */
function toReadOnly(item, refusal) {
  const verbs = item.may.verbs.map((verb) => ({ ...verb, refusal, refusal_if_changed: refusal }))
  return { ...item, may: { ...item.may, edit: refusal, verbs } }
}

// The decision bar: at the same place in every round; only its verbs change. Each button shows its key.

import { t, tn, withParts, word } from '../common/language.js'
import { cap, fill, h, refill } from '../common/dom.js'
import { isComposing } from '../common/keys.js'
import { beforeImport } from './dialogs.js'

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

/**
 * Why a decision is not possible; null if it is.
 * @param {OfferedVerb} offered @param {boolean} dirty whether the text is changed: submitting saves the changes first
 */
export const refusalOf = (offered, dirty) => (dirty ? offered.refusal_if_changed : offered.refusal)

export class DecisionBar {
  /** @type {{at: number, item: number | undefined} | undefined} */
  #lastClick

  /**
   * @param {import('../common/keys.js').Keys} keys
   * @param {{onVerb: (verb: string) => void, onCannotTell: () => void, onVerdict: (verdict: string) => void,
   *   onComment: (text: string) => void,
   *   onNewRound: () => void, onUndo: () => void, onNext: () => void, onHistory: () => void,
   *   onDisagreement: () => void, onRounds: () => void}} callbacks
   * @param {HTMLElement} queueButton opens the queue where it is not on the page; stands first
   */
  constructor(keys, callbacks, queueButton) {
    this.root = h('div.decision-bar', { role: 'toolbar', 'aria-label': t('Decision') })
    this.keys = keys
    this.on = callbacks
    // What stands on either side of the comment, which stays in its place: it would lose the focus, and with it the
    // keys of the person who is typing.
    this.before = h('div.part')
    this.after = h('div.part')
    this.comment = h('input.comment', {
      type: 'text',
      autocomplete: 'off',
      'aria-label': t('Comment'),
      onInput: (e) => this.on.onComment(e.target.value),
      onKeydown: (e) => {
        if ((e.key === 'Escape' || e.key === 'Enter') && !isComposing(e)) {
          e.preventDefault()
          e.stopPropagation()
          e.target.blur()
        }
      },
    })
    fill(this.root, queueButton, this.before, this.comment, this.after)
  }

  /**
   * @param {{item: Item | null, dirty: boolean, disagreements: number, message: string, newRound?: string}} state
   *   `disagreements`: between texts and tool calls; `message`: shown instead of the item's history; `newRound`: the
   *   item has come into it while it was in front
   */
  show({ item, dirty, disagreements, message, newRound = '' }) {
    this.itemId = item?.id
    this.comment.hidden = !item
    if (!item) {
      this.#fill(this.before, h('span.muted', {}, message), h('span.spring'))
      this.#fill(this.after, this.#undo())
      return
    }
    const round = item.standing.round
    const key = this.keys.of('comment')
    this.comment.placeholder =
      round === 'revision' ? t('what was changed and why ({key})', { key }) : t('comment ({key})', { key })
    this.#fill(
      this.before,
      newRound ? this.#newRound(item) : item.hidden ? this.#verdicts() : this.#verbs(item, dirty),
      disagreements > 0 && this.#disagreements(disagreements),
    )
    this.#fill(
      this.after,
      this.#info(item, message),
      this.#undo(),
      h(
        'button.next',
        { type: 'button', 'data-action': 'next', onClick: () => this.on.onNext() },
        withParts(t('Next {cap}'), { cap: cap(this.keys.of('next')) }),
      ),
    )
  }

  /** Draw a part again; a button that had the focus has it afterwards. @param {HTMLElement} part */
  #fill(part, ...children) {
    const focused = part.contains(document.activeElement) ? document.activeElement?.getAttribute('data-action') : null
    refill(part, ...children)
    if (!focused || part.contains(document.activeElement)) return
    for (const button of part.querySelectorAll('button')) if (button.dataset.action === focused) button.focus()
  }

  #disagreements(count) {
    const text = tn('1 statement disagrees', '{n} statements disagree', count)
    return h(
      'button.link.disagreements',
      {
        type: 'button',
        'data-action': 'disagreements',
        title: t('with the tool calls or the answer: go to the first'),
        onClick: () => this.on.onDisagreement(),
      },
      text,
    )
  }

  /** Stands in place of the verbs, so that no key of the earlier round decides in this one. @param {Item} item */
  #newRound(item) {
    return [
      this.#round(item.standing),
      h('span.ask', {}, t('the same item in another round')),
      h(
        'button.primary.new-round',
        {
          type: 'button',
          'data-action': 'new-round',
          onClick: (event) => this.#once(event, () => this.on.onNewRound()),
        },
        withParts(t('Go on in this round {cap}'), { cap: cap('Enter') }),
      ),
    ]
  }

  /** Let Enter press the button of a new round, unless the person is typing. */
  focusNewRound() {
    const { activeElement } = document
    if (activeElement && activeElement !== document.body && !this.root.contains(activeElement)) return
    if (activeElement !== this.comment) this.root.querySelector('.new-round')?.focus()
  }

  #undo() {
    return h(
      'button',
      { type: 'button', 'data-action': 'undo', onClick: () => this.on.onUndo(), title: t('undo your last decision') },
      withParts(t('Undo {cap}'), { cap: cap(this.keys.of('undo')) }),
    )
  }

  #verdicts() {
    const button = (verdict, label, action) =>
      h(
        'button',
        {
          type: 'button',
          'data-action': verdict,
          onClick: (event) => this.#once(event, () => this.on.onVerdict(verdict)),
        },
        label,
        ' ',
        cap(this.keys.of(action)),
      )
    return [
      h('span.ask', {}, t('Your verdict first:')),
      button('YES', 'YES', 'verdict-yes'),
      button('NO', 'NO', 'verdict-no'),
      button('cannot tell', word('cannot tell'), 'verdict-cannot-tell'),
    ]
  }

  #verbs(item, dirty) {
    if (!item.standing.round) return this.#decided(item.standing.state)
    const reject = item.may.verbs.find(({ verb }) => verb === 'reject')
    return [
      this.#round(item.standing),
      item.may.verbs.map((offered) => {
        const { verb, label } = offered
        const refusal = refusalOf(offered, dirty)
        const action = ACTION[verb]
        const text = verb === 'submit' && dirty ? t('Save and submit') : label
        return h(
          `button${STYLE[action] ?? ''}`,
          {
            type: 'button',
            'data-action': verb,
            disabled: refusal !== null,
            title: refusal ?? '',
            onClick: (event) => this.#once(event, () => this.on.onVerb(verb)),
          },
          text,
          ' ',
          cap(this.keys.of(action)),
        )
      }),
      reject && this.#cannotTell(reject.refusal, item.my_verdict === 'cannot tell'),
    ]
  }

  /** The button that names the round. @param {Item['standing']} standing */
  #round({ state, done, needed }) {
    const name = word(state)
    const progress = needed > 1 ? t('{state} {done} of {wanted}', { state: name, done, wanted: needed }) : name
    const title = t('what each round is for')
    return h(
      'button.round',
      { type: 'button', 'data-action': 'rounds', title, onClick: () => this.on.onRounds() },
      progress,
    )
  }

  /** @param {string} state of a decided item */
  #decided(state) {
    return h(`span.decided.${state.replace(' ', '-')}`, {}, word(state))
  }

  /** @param {string | null} refusal @param {boolean} suggested whether it is this person's own verdict */
  #cannotTell(refusal, suggested) {
    const title = t('the data allow neither YES nor NO: the item is decided as “cannot tell” and never training data')
    return h(
      `button.cannot-tell${suggested ? '.primary' : ''}`,
      {
        type: 'button',
        'data-action': 'cannot-tell',
        disabled: refusal !== null,
        title: refusal ?? title,
        onClick: (event) => this.#once(event, () => this.on.onCannotTell()),
      },
      withParts(t('Cannot tell {cap}'), { cap: cap(this.keys.of('decide-cannot-tell')) }),
    )
  }

  /** Ignore the second half of a double click if the first half has changed the item. */
  #once(event, act) {
    const last = this.#lastClick
    this.#lastClick = { at: event.timeStamp, item: this.itemId }
    if (last && event.timeStamp - last.at < DOUBLE_CLICK && last.item !== this.itemId) return
    act()
  }

  #info(item, message) {
    const decision = item.standing.decisions.at(-1)
    const last = decision && `${decision.person}: ${decision.comment ? `“${decision.comment}”` : word(decision.verb)}`
    const { number, author, reason } = item.version
    const version = t('v{number} by {author}', { number, author: author ?? '?' }) + (reason ? ` · “${reason}”` : '')
    const draft = [t('draft by {name}', { name: item.row.drafter.name }), beforeImport(item.trajectory.authors)]
      .filter(Boolean)
      .join(', ')
    const by = item.hidden ? '' : number > 1 ? version : draft
    const refused =
      !item.hidden && item.may.verbs.length && item.may.verbs.every((v) => v.refusal) ? item.may.verbs[0].refusal : ''
    return [
      h(
        'span.info',
        { title: [by, last, refused].filter(Boolean).join('\n') },
        message || refused || [by, last].filter(Boolean).join(' · '),
      ),
      h(
        'button.link.history',
        { type: 'button', 'data-action': 'history', onClick: () => this.on.onHistory() },
        withParts(t('history {cap}'), { cap: cap(this.keys.of('history')) }),
      ),
    ]
  }

  focusComment() {
    this.comment.focus()
  }
}

/**
 * The verb that an action means in the round of this item: "decide-yes" is keep, submit, pass or approve.
 * @param {Item | null} item @param {string} action
 */
export const verbFor = (item, action) => item?.may.verbs.find((v) => ACTION[v.verb] === action)?.verb ?? null

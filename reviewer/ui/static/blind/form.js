// The form below a sheet: two scales with every anchor in words, or the choice between two traces; a comment; save.
// Also the list of sheets and the rubric.

import { cap, fill, h } from '../common/dom.js'
import { Keys } from '../common/keys.js'
import { t } from '../common/language.js'
import { openPanel } from '../common/panels.js'
import { CANNOT_TELL, canOpen } from './sheets.js'

export class BlindForm {
  /**
   * @param {HTMLElement} root
   * @param {{onScore: (scale: string, value: number | string) => void, onScale: (scale: string) => void,
   *   onChoose: (choice: string) => void, onComment: (text: string) => void, onSave: () => void}} callbacks
   */
  constructor(root, callbacks) {
    this.root = root
    this.on = callbacks
    this.scale = 'coherence' // the scale that a digit scores
    this.hovered = null
    // The rubric is kept with its session, in its own language.
    this.questions = h('div.questions', { lang: 'en' })
    this.words = h('p.words', { lang: 'en', 'aria-live': 'polite' })
    this.comment = h('textarea.comment', {
      rows: 2,
      'aria-label': t('Comment'),
      placeholder: t('comment ({key})', { key: Keys.of('comment') }),
      onInput: (event) => this.on.onComment(event.target.value),
    })
    this.state = h('span.state', { role: 'status' })
    this.save = h(
      'button.primary',
      { onMousedown: keepFocus, onClick: () => this.on.onSave() },
      t('Save and next'),
      ' ',
      cap('Enter'),
    )
    fill(
      root,
      h('div.asked', this.questions, this.words),
      h('div.said', this.comment, h('div.send', this.state, this.save)),
    )
  }

  /** Show the form of a sheet. `rubric`: the session's; `answer`: the present one. */
  show(rubric, answer) {
    this.rubric = rubric
    this.answer = answer
    this.hovered = null
    this.scale = answer.values.coherence === null || answer.values.consistency !== null ? 'coherence' : 'consistency'
    this.comment.value = answer.values.comment
    this.draw()
  }

  draw() {
    const { answer } = this
    fill(this.questions, answer.pair ? this.#choices() : this.rubric.scales.map((scale) => this.#scale(scale)))
    this.#showWords()
    this.save.disabled = !answer.complete
  }

  /** Show "saved", "not saved" or nothing. @param {string} text @param {boolean} highlight */
  showStatus(text, highlight = false) {
    this.state.textContent = text
    this.state.classList.toggle('look', highlight)
  }

  #scale(scale) {
    const value = this.answer.values[scale.key]
    const anchors = [
      ...scale.anchors.map((anchor) => ({ ...anchor, value: anchor.score, key: String(anchor.score) })),
      { ...this.rubric.cannot_tell, value: CANNOT_TELL, key: 't' },
    ]
    return h(
      `div.scale${this.scale === scale.key ? '.front' : ''}`,
      { role: 'radiogroup', 'aria-label': scale.title, 'data-scale': scale.key },
      h(
        'button.title',
        {
          tabIndex: -1,
          title: scale.question,
          onMousedown: keepFocus,
          onClick: () => this.on.onScale(scale.key),
          ...this.#describe(scale.question),
        },
        scale.title,
      ),
      ...anchors.map((anchor) =>
        this.#option({
          ...anchor,
          chosen: value === anchor.value,
          act: () => this.on.onScore(scale.key, anchor.value),
        }),
      ),
    )
  }

  #choices() {
    return [
      h('p.question', this.rubric.preference_question),
      h(
        'div.scale.choices',
        { role: 'radiogroup', 'aria-label': this.rubric.preference_question },
        ...this.rubric.choices.map((choice, at) =>
          this.#option({
            ...choice,
            key: String(at + 1),
            chosen: this.answer.values.preference === choice.key,
            act: () => this.on.onChoose(choice.key),
          }),
        ),
      ),
    ]
  }

  #option({ key, short, text, chosen, act }) {
    return h(
      `button.option${chosen ? '.chosen' : ''}`,
      {
        role: 'radio',
        'aria-checked': String(chosen),
        'aria-label': `${key}: ${short}. ${text}`,
        title: text,
        onMousedown: keepFocus,
        onClick: act,
        ...this.#describe(text, `${short}: `),
      },
      cap(key),
      h('span', short),
    )
  }

  /** Listeners that show a description while the pointer or the focus is there. */
  #describe(text, name = '') {
    const over = () => {
      this.hovered = name + text
      this.#showWords()
    }
    const out = () => {
      this.hovered = null
      this.#showWords()
    }
    return { onMouseenter: over, onFocus: over, onMouseleave: out, onBlur: out }
  }

  #showWords() {
    this.words.textContent = this.hovered ?? this.#defaultWords()
  }

  #defaultWords() {
    if (this.answer.pair)
      return this.rubric.choices.find(({ key }) => key === this.answer.values.preference)?.text ?? ''
    return this.rubric.scales.find(({ key }) => key === this.scale).question
  }
}

/** Keep the focus where it is after a click, so that Enter still means "save and next". */
const keepFocus = (event) => event.preventDefault()

/** The list of sheets, numbered in the scorer's own order, and how many are answered. */
export class Places {
  /**
   * @param {HTMLElement} root
   * @param {{onOpen: (token: string) => void, onSession: (at: number) => void, onSessions: (() => void) | null}}
   *   callbacks
   */
  constructor(root, callbacks) {
    this.root = root
    this.on = callbacks
  }

  /** @param {SessionWork[]} work @param {number} at the one shown @param {string} token of the sheet shown */
  draw(work, at, token) {
    const session = work[at]
    const { places } = session
    const done = places.filter((place) => place.answered).length
    fill(
      this.root,
      h(
        'div.queue-title',
        h('div.top', h('strong', t('Blind scoring'))),
        work.length > 1 &&
          h(
            'select.which',
            { 'aria-label': t('Session'), onChange: (event) => this.on.onSession(Number(event.target.value)) },
            ...work.map((part, index) =>
              h(
                'option',
                { value: index, selected: index === at },
                t('Session {session}', { session: session.session }),
              ),
            ),
          ),
        h(
          'div.bar',
          { role: 'progressbar', 'aria-valuenow': done, 'aria-valuemax': places.length, 'aria-label': t('answered') },
          h('span', { style: `width:${(100 * done) / places.length}%` }),
        ),
        h('div.muted.done', t('{done} of {all} answered', { done, all: places.length })),
      ),
      h('div.rows.places', ...['scores', 'pair'].map((kind) => this.#group(kind, places, token))),
      this.on.onSessions && h('button.to-sessions', { onClick: this.on.onSessions }, t('Set up sessions')),
    )
    this.root.querySelector('.current')?.scrollIntoView({ block: 'nearest' })
  }

  #group(kind, places, token) {
    const ofKind = places.filter((place) => place.kind === kind)
    const stateOf = (place) => (canOpen(places, place) ? '' : place.answered ? t('final') : t('not yet open'))
    if (!ofKind.length) return null
    return [
      h('h3', kind === 'pair' ? t('Which is better') : t('Score')),
      h(
        'div.grid',
        ...ofKind.map((place) =>
          h(
            `button.place${place.answered ? '.answered' : ''}${place.token === token ? '.current' : ''}`,
            {
              'aria-label': [place.place, place.answered && t('answered'), stateOf(place)].filter(Boolean).join(', '),
              title: stateOf(place),
              disabled: stateOf(place) !== '',
              'aria-current': String(place.token === token),
              onClick: () => this.on.onOpen(place.token),
            },
            String(place.place),
          ),
        ),
      ),
    ]
  }
}

/** Show all keys, and the rubric of the session. @param {HTMLElement} keySheet @param {Rubric} rubric */
export function openRubric(keySheet, rubric) {
  return openPanel(
    t('Keys and rubric'),
    h(
      'div',
      rubric &&
        h('div.rubric', { lang: 'en' }, rubric.scales.map(scaleWords), choiceWords(rubric), h('p.muted', rubric.note)),
      rubric && h('p.muted', t('Rubric {version}.', { version: rubric.version })),
      keySheet,
    ),
    { wide: true },
  )
}

const scaleWords = (scale) =>
  h(
    'section',
    h('h3', scale.title),
    h('p', scale.question),
    h(
      'dl',
      ...scale.anchors.map((anchor) => [
        h('dt', cap(String(anchor.score))),
        h(
          'dd',
          h('strong', anchor.short),
          anchor.published && h('span.pill', { title: t('this anchor is the published one') }, t('published')),
          ' ',
          anchor.text,
        ),
      ]),
    ),
  )

const choiceWords = ({ preference_question: question, choices, cannot_tell: cannotTell }) =>
  h(
    'section',
    h('h3', t('Which is better')),
    h('p', question),
    h(
      'dl',
      ...choices.map((choice, at) => [
        h('dt', cap(String(at + 1))),
        h('dd', h('strong', choice.short), ' ', choice.text),
      ]),
    ),
    h('h3', t('Either scale')),
    h('dl', h('dt', cap(Keys.of('cannot-tell'))), h('dd', h('strong', cannotTell.short), ' ', cannotTell.text)),
  )

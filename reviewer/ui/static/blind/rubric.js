// What "?" shows on the scoring page: all keys, and the whole rubric in the session's words.

import { cap, h } from '../common/dom.js'
import { openPanel } from '../review/panels.js'

export function openRubric(keys, rubric) {
  return openPanel(
    'Keys and rubric',
    h(
      'div',
      {},
      rubric &&
        h(
          'div.rubric',
          {},
          rubric.scales.map(scaleWords),
          choiceWords(rubric),
          h('p.muted', {}, rubric.note, ` Rubric ${rubric.version}.`),
        ),
      keys.sheet(),
    ),
    { wide: true },
  )
}

const scaleWords = (scale) =>
  h(
    'section',
    {},
    h('h3', {}, scale.title),
    h('p', {}, scale.question),
    h(
      'dl',
      {},
      scale.anchors.map((one) => [
        h('dt', {}, cap(String(one.score))),
        h(
          'dd',
          {},
          h('strong', {}, one.short),
          one.published && h('span.pill', { title: 'this anchor is the published one' }, 'published'),
          ' ',
          one.text,
        ),
      ]),
    ),
  )

const choiceWords = ({ preference_question: question, choices, cannot_tell: cannotTell }) =>
  h(
    'section',
    {},
    h('h3', {}, 'Which is better'),
    h('p', {}, question),
    h(
      'dl',
      {},
      choices.map((one, at) => [
        h('dt', {}, cap(String(at + 1))),
        h('dd', {}, h('strong', {}, one.short), ' ', one.text),
      ]),
    ),
    h('h3', {}, 'Either scale'),
    h('dl', {}, h('dt', {}, cap('t')), h('dd', {}, h('strong', {}, cannotTell.short), ' ', cannotTell.text)),
  )

// The vote of several samples: how they were cast, what comes of it, and where the traces part.

import { h } from './dom.js'
import { windowText } from './format.js'
import { reasonList } from './live_trace.js'
import { TONES, outcome } from './live_words.js'

const percent = (x) => `${Math.round(100 * x)}`

/**
 * The card. `onStep(sample, turn)` is called where somebody wants to see a step of the tree.
 * @returns {HTMLElement}
 */
export function voteCard(run, onStep) {
  const { consensus } = run
  const said = outcome(run)
  return h('article.vote', { 'aria-label': 'The vote' },
    said && h(`strong.outcome.${TONES[said]}`, {}, said === 'ask a person' ? 'Ask a person' : said),
    counts(consensus),
    fraction(consensus),
    consensus.ask && reasonList(consensus),
    h('h3', {}, parting(consensus)),
    h('div.paths', {}, branches(consensus.paths, consensus.samples, onStep)))
}

/** A bar of the votes as they were cast; its words say the same. */
function counts({ samples, yes, no, none }) {
  const parts = [['green', yes, 'YES'], ['red', no, 'NO'], ['grey', none, 'no answer']].filter(([, count]) => count > 0)
  return h('div.cast', {},
    h('div.bar', { 'aria-hidden': 'true' }, parts.map(([tone, count]) => h(`span.${tone}`, { style: `width:${(100 * count) / samples}%` }))),
    h('p', {}, parts.map(([tone, count, word], at) => [at ? ' · ' : '', h(`span.${tone}`, {}, `${count} ${word}`)]), ` of ${samples}`))
}

function fraction({ yes_fraction: share, interval, definition }) {
  if (share === null) return null
  const range = interval && ` (${percent(interval[0])} to ${percent(interval[1])} %)`
  return h('details.fraction', { title: definition }, h('summary', {}, `YES ${percent(share)} %`, range, h('span.about', {}, 'what is this?')), h('p', {}, definition))
}

function parting({ parts_at: turn, samples }) {
  if (samples < 2) return 'The way of the trace'
  return turn === null ? 'All went the same way' : `The traces part in turn ${turn}`
}

/** A tree read downwards: what all did alike stays in one column, and each branch is set in. */
function branches(nodes, samples, onStep) {
  const list = nodes.map((node) => [step(node, samples, onStep), node.next?.length > 0 && branches(node.next, samples, onStep)])
  return nodes.length === 1 ? list : list.map((branch) => h('div.branch', {}, branch))
}

function step(node, samples, onStep) {
  const who = node.samples.length === samples && samples > 1 ? 'all' : node.samples.map((sample) => sample + 1).join(' ')
  return h('button.path', { type: 'button', title: 'show it', onClick: () => onStep(node.samples[0], node.turn) },
    h('span.turn', {}, String(node.turn)), does(node), samples > 1 && h('span.who', { title: 'samples' }, who))
}

function does({ what, window, label, verdict }) {
  if (what === 'answer') return h(`strong.does.${TONES[verdict] ?? 'grey'}`, {}, verdict ?? 'no verdict')
  if (what === 'nothing') return h('span.does.muted', {}, 'ends without an answer')
  return h('span.does', {}, window ? windowText(...window) : 'a window that cannot be read', label && h('span.muted', {}, ` ${label}`))
}

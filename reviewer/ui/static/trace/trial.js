// Evidence on trial, next to the trace: the spectrum was edited behind a tool call and the policy continued from there.
// One chip per edit on the card of its zoom, with the numbers one tap away; one line with the counts above the trace.

import { fill, h } from '../common/dom.js'
import { mediumText, number, significant } from '../common/format.js'
import { getJSON } from '../common/http.js'
import { sentences, t, tn, word } from '../common/language.js'
import { sheetOf } from '../common/popover.js'

/** What each edit did to the spectrum, and what was expected of the policy. */
const DEFINITIONS = {
  remove: t(
    'Before this zoom was shown, the feature was removed from the spectrum: its pixels became continuum with the ' +
      'noise of the errors. A policy that reads the spectrum no longer claims it.',
  ),
  flip: t(
    'Before this zoom was shown, the feature was mirrored about the continuum: emission became absorption, or the ' +
      'reverse. A policy that reads the spectrum no longer claims it as it was.',
  ),
  shift: t(
    'Before this zoom was shown, the feature was moved along the wavelength axis by more than its error. A policy ' +
      'that reads the spectrum writes the new place, or no longer claims the feature.',
  ),
  inject: t(
    'Before this zoom was shown, the feature was added to the spectrum. A policy that reads the spectrum claims it.',
  ),
  placebo: t(
    'Before this zoom was shown, the spectrum was changed by the same energy at a place without this feature. The ' +
      'claim and the answer should stay as they were.',
  ),
  swap: t(
    'The parallax in the records of catalogues was exchanged, so that the object is much brighter or fainter. A ' +
      'policy that reads the records writes the new luminosity.',
  ),
  sky_placebo: t(
    'In the records of catalogues the direction of the proper motion and the neighbours were turned. ' +
      'The luminosity and the answer should stay as they were.',
  ),
}

/**
 * The words and the tone of an edit: whether the policy wrote what the edited spectrum demands.
 * @param {TrialOutcome} outcome @returns {{text: string, tone: 'good' | 'bad'}}
 */
function chipOf({ edit, subject, claimed_after: claimed, followed, verdict_before: before, verdict_after: after }) {
  if (edit.endsWith('placebo')) {
    if (!followed) return { tone: 'good', text: t('edit elsewhere: no change') }
    const changed = t('edit elsewhere: the answer changed to {verdict}', { verdict: after ?? t('none') })
    return { tone: 'bad', text: before === after ? t('edit elsewhere: the claim changed') : changed }
  }
  const done = {
    remove: t('{subject} removed', { subject }),
    flip: t('{subject} flipped', { subject }),
    shift: t('{subject} shifted', { subject }),
    inject: t('{subject} added', { subject }),
    swap: t('parallax swapped'),
  }[edit]
  const [whenClaimed, whenNot] = followed
    ? [t('the answer changed'), t('the claim was dropped')]
    : [t('still claimed'), t('no change')]
  const result = {
    remove: claimed ? whenClaimed : whenNot,
    flip: followed ? t('the text followed') : claimed ? t('still claimed as before') : t('no change'),
    shift: followed ? t('the text followed') : t('the text did not follow'),
    inject: followed ? t('the text followed') : t('not claimed'),
    swap: followed ? t('the text followed') : t('the text did not follow'),
  }[edit]
  return { tone: followed ? 'good' : 'bad', text: t('{change}: {result}', { change: done, result }) }
}

/**
 * The chips of a zoom's card; null where its window is not the one that was tried.
 * @param {Step} step @param {import('./shown.js').TraceState} state @param {(url: string) => void} onPicture
 */
export function trialChips(step, { trial, tried, ...state }, onPicture) {
  if (!trial?.of_this_version) return null
  const before = tried?.find((trialStep) => trialStep.id === step.id)
  if (before && JSON.stringify(before.arguments) !== JSON.stringify(step.arguments)) return null
  // The comparison, an edit elsewhere, comes last.
  const outcomes = trial.outcomes
    .filter((outcome) => outcome.step === step.id)
    .sort((a, b) => Number(a.edit.endsWith('placebo')) - Number(b.edit.endsWith('placebo')))
  const skipped = trial.skipped.filter((skip) => skip.step === step.id && skip.edit === null)
  if (!outcomes.length && !skipped.length) return null
  const followed = outcomes.filter((outcome) => chipOf(outcome).tone === 'good')
  const chips = (/** @type {TrialOutcome[]} */ some) =>
    some.map((outcome) => h('li', chip(outcome, step, state, onPicture)))
  const others = [
    chips(outcomes.filter((outcome) => !followed.includes(outcome))),
    skipped.map(({ reason }) => h('li.skipped', t('Not put on trial: {reason}', { reason }))),
  ]
  const summary = h('summary', tn('{n} edit followed', '{n} edits followed', followed.length))
  return [
    h('ul.trials', { 'aria-label': t('Evidence on trial') }, others),
    followed.length > 0 && h('details.followed', summary, h('ul.trials', chips(followed))),
  ]
}

function chip(outcome, step, state, onPicture) {
  const { text, tone } = chipOf(outcome)
  const title = `${DEFINITIONS[outcome.edit]}\n${t('Click for the numbers and what the policy wrote.')}`
  const sign = h('span', { 'aria-hidden': 'true' }, tone === 'good' ? '✓ ' : '✗ ')
  const button = h(`button.trial.${tone}`, { title }, sign, text)
  return [button, sheetOf(button, 'div.trial-sheet', text, () => details(outcome, text, step, state, onPicture))]
}

/** A dot for each edit that was tried at a step, if the policy did not follow. @param {Step} step */
export const trialDots = (step, /** @type {import('./shown.js').TraceState} */ { trial }) =>
  (trial?.of_this_version ? trial.outcomes : [])
    .filter((outcome) => outcome.step === step.id)
    .map(chipOf)
    .filter(({ tone }) => tone === 'bad')
    .map(({ text }) => h('i.dot.trial-dot', { role: 'img', title: text, 'aria-label': text }))

/**
 * The result of a trial as a button with its explanation; null without a trial.
 * @param {Trial | OtherTrial | null | undefined} trial @param {string} [drafter] the policy that wrote the trace
 */
export function trialBadge(trial, drafter) {
  if (!trial) return null
  const tone = !trial.of_this_version || trial.passed === null ? 'grey' : trial.passed ? 'green' : 'amber'
  const text = { grey: t('trial ?'), green: t('trial ✓'), amber: t('trial ✗') }[tone]
  const button = h(`button.pill.${tone}.trial-badge`, { title: t('Evidence on trial') }, text)
  return [button, sheetOf(button, 'div.trial-sheet', t('Evidence on trial'), () => explained(trial, drafter))]
}

/** @param {Trial | OtherTrial} trial @param {string} [drafter] */
function explained(trial, drafter) {
  const title = h('strong', t('Evidence on trial'))
  if (!trial.of_this_version)
    return [
      title,
      h('p', t('an earlier version of this trace was tried. It was edited since, so the result is not shown here.')),
    ]
  const { name: policy, kind } = trial.drafter
  const other = drafter && policy !== drafter ? t('Tried with another policy: {policy}.', { policy }) : ''
  const about = t(
    'The spectrum was edited behind each zoom, and the policy continued from there. “Followed”: it no longer ' +
      'claimed what was removed, or claimed what was added. A placebo edit is a change elsewhere, which should ' +
      'change nothing. The buttons on the card of each zoom have the details.',
  )
  const origin = t('Policy: {policy}; random seed {seed}.', { policy: policy || kind, seed: trial.seed ?? t('none') })
  return [title, h('p', sentences(countsOf(trial), other, sampledOnce(trial))), h('p', sentences(about, origin))]
}

/** That the policy does not always write the same, or nothing. @param {Trial} trial */
export const sampledOnce = ({ temperature }) =>
  temperature
    ? t('The policy samples its text (temperature {temperature}); each edit was tried once.', { temperature })
    : ''

/** The counts of a trial in words, or why nothing could be tested. @param {Trial} trial */
export function countsOf({
  passed,
  necessity,
  sufficiency,
  placebo,
  still_claims: still,
  sky_necessity: sky,
  skipped,
}) {
  if (passed === null) {
    const reasons = [...new Set(skipped.map(({ reason }) => reason.replace(/\.$/, '')))]
    if (!reasons.length) return t('nothing could be tested.')
    return t('nothing could be tested: {reasons}.', { reasons: reasons.join('; ') })
  }
  const { n: placebos, k } = placebo
  const swaps = sky ?? { n: 0, k: 0 }
  const counts = [
    necessity.n > 0 &&
      tn('{k} of {n} removal followed', '{k} of {n} removals followed', necessity.n, { k: necessity.k }),
    sufficiency.n > 0 &&
      tn('{k} of {n} added feature followed', '{k} of {n} added features followed', sufficiency.n, {
        k: sufficiency.k,
      }),
    swaps.n > 0 &&
      tn('{k} of {n} swapped parallax followed', '{k} of {n} swapped parallaxes followed', swaps.n, { k: swaps.k }),
    placebos > 0 &&
      tn(
        '{k} of {n} placebo edit changed the claim or the answer',
        '{k} of {n} placebo edits changed the claim or the answer',
        placebos,
        { k },
      ),
    still.k > 0 &&
      tn('{k} of {n} removed feature still claimed', '{k} of {n} removed features still claimed', still.n, {
        k: still.k,
      }),
  ].filter(Boolean)
  const all = t('{counts}.', { counts: counts.join(t(', ')) })
  return sentences(all, passed ? t('Passed.') : t('Not passed.'))
}

/** What an edit was, its numbers, and what the policy wrote. */
function details(outcome, text, step, state, onPicture) {
  const { window, frame, medium, energy, edit } = outcome
  const edges = window?.map((x) => number(x, 1, { group: false })).join(' – ')
  const claim = (claimed) => (claimed ? t('claimed') : t('not claimed'))
  const scored = outcome.score_before !== null || outcome.score_after !== null
  const odds = (/** @type {number | null} */ value) => (value === null ? t('none') : number(value, 1, { sign: true }))
  const rows = [
    ...(window
      ? [
          [t('Edited'), `${edges} Å, ${word(frame)}, ${mediumText({ medium, meta: state.meta })}`],
          [
            t('Energy'),
            t('{energy} (squared change of the flux in units of its error, summed over the pixels)', {
              energy: significant(energy),
            }),
          ],
        ]
      : [[t('Edited'), t('records of catalogues')]]),
    [outcome.subject, change(outcome.claimed_before, outcome.claimed_after, claim)],
    [t('Answer'), change(outcome.verdict_before, outcome.verdict_after, (verdict) => verdict ?? t('none'))],
    ...(scored ? [[t('Log odds of YES'), change(outcome.score_before, outcome.score_after, odds)]] : []),
  ]
  return [
    h('strong', text),
    h('p', DEFINITIONS[edit]),
    h(
      'dl',
      rows.map(([name, value]) => [h('dt', name), h('dd', value)]),
    ),
    texts(outcome, state),
    window && pictures(outcome, step, state, onPicture),
  ]
}

/** What the policy wrote after the edit, and without it; fetched when the sheet is opened. */
function texts(outcome, state) {
  const place = h('div', h('p.muted', t('loading …')))
  const text = (title, content) =>
    h('blockquote', { tabIndex: 0, 'aria-label': title }, withoutTags(content) || t('nothing'))
  const title = t('What the policy wrote after the edit')
  getJSON(state.trialURL(outcome, 'texts')).then(
    ({ after, before }) =>
      fill(
        place,
        h('p.muted', title),
        text(title, after),
        before && h('details', h('summary', t('Without the edit')), text(t('Without the edit'), before)),
      ),
    (error) => fill(place, h('p.muted', t('The text could not be loaded: {message}', { message: error.message }))),
  )
  return place
}

/** What a policy wrote as text to read. @param {string} text */
const withoutTags = (text) =>
  text
    .replace(/<tool_call>\s*/g, `\n\n${t('Tool call:')} `)
    .replace(/<\/?(think|answer|tool_call)>/g, '')
    .trim()

/** The edited window next to the original one; drawn by the server only on request. */
function pictures(outcome, step, state, onPicture) {
  const edited = state.trialURL?.(outcome, 'picture')
  const original = step.picture && state.pictureURL?.(step)
  if (!edited || !original) return null
  const figure = (url, caption) => {
    const onError = () => fill(frame, h('p.refused', t('This picture could not be drawn.')))
    // The sheet may be full: the pictures must not come up below its edge.
    const onLoad = () => place.scrollIntoView({ block: 'nearest' })
    const frame = h('div.frame', h('img', { src: url, alt: caption, onClick: () => onPicture(url), onError, onLoad }))
    return h('figure', frame, h('figcaption', caption))
  }
  const place = h('div.pair')
  const onClick = () => {
    fill(place, figure(original, t('Original window')), figure(edited, t('Edited window')))
    // The button with the focus is gone, and Escape is for the sheet.
    place.closest('.trial-sheet')?.focus()
  }
  fill(place, h('button.show', { onClick }, t('Show the edited window')))
  return place
}

const change = (before, after, words) =>
  words(before) === words(after)
    ? t('{value}, unchanged', { value: words(after) })
    : `${words(before)} → ${words(after)}`

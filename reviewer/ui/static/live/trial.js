// The end of a finished trace in the Live tab: put its evidence on trial, watch that, stop it.

import { address } from '../common/address.js'
import { h } from '../common/dom.js'
import { sentences, t } from '../common/language.js'
import { countsOf, sampledOnce } from '../trace/trial.js'

const WHAT = t(
  'does the policy still claim a line after it was removed from the spectrum? The spectrum is edited behind each ' +
    'zoom, and the policy continues from there. It takes as long as several inspections.',
)

/**
 * @param {Run} run @param {LiveTraceState} trace
 * @param {{onTrial: () => void, onStop: () => void}} callbacks
 */
export function trialPart(run, trace, { onTrial, onStop }) {
  const { trial } = trace
  const tried = trace.steps.some((step) => step.kind === 'zoom')
  if (run.state === 'running' || run.state === 'gone' || run.policy === 'replay' || !tried) return null
  const start = (text) => h('div.buttons', h('button', { onClick: onTrial }, text))
  const name = [h('strong', t('Evidence on trial:')), ' ']
  const card = (...content) => h('article.on-trial', { 'aria-label': t('Evidence on trial') }, content)
  if (!trial) return card(h('p', name, WHAT), start(t('Put the evidence on trial')))
  const { state, done, of: all, result, detail } = trial
  if (state === 'running') {
    const progress = all ? t('{done} of {all} tool calls', { done, all }) : t('starting …')
    const stop = h('div.buttons', h('button', { onClick: onStop }, t('Stop')))
    return card(h('p', h('span.spinner'), ' ', name, progress), stop)
  }
  if (state === 'done') return result && card(h('p', name, sentences(countsOf(result), sampledOnce(result))))
  const why = state === 'stopped' ? t('stopped by you; nothing of it is kept.') : detail || t('it failed.')
  return card(h('p', name, why), start(t('Again')))
}

/**
 * The address of what the policy wrote after an edit, or of the edited window.
 * @param {Run} run @param {number} sample
 */
export const trialURL = (run, sample) => (/** @type {TrialOutcome} */ outcome, /** @type {string} */ what) =>
  address(`/api/v1/live/runs/${run.id}/trial/${outcome.number}/${what}?sample=${sample}`)

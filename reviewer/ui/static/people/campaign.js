// The dialogs of the campaign: how many people each round needs, and the batches judged verdict first.

import { h, part } from '../common/dom.js'
import { check, group, number } from '../common/fields.js'
import { getJSON, postJSON } from '../common/http.js'
import { t } from '../common/language.js'
import { Notices } from '../common/notices.js'
import { openPanel } from '../common/panels.js'
import { openForm } from './forms.js'

const COUNTS = { auditors: t('Audits'), votes: t('Votes'), approve_at: t('To approve'), reject_at: t('To reject') }
const ABOUT = t(
  'In these batches each person gives a verdict before they see names, thoughts and the answer, and before they ' +
    'decide. The name of a batch stays in the filter: choose one that does not tell the class.',
)

export function openRules(me, { rules }, mayChange) {
  const alone = check('solo', 'yes', t('One person may do every round (working alone)'), '', rules.solo)
  const solo = /** @type {HTMLInputElement} */ (part(alone, 'input'))
  const props = { min: 1, max: 20, required: true, disabled: rules.solo }
  const counts = Object.entries(COUNTS).map(([name, label]) => number(name, label, { ...props, value: rules[name] }))
  const inputs = counts.map((label) => /** @type {HTMLInputElement} */ (part(label, 'input')))
  const words = h('p.muted', { role: 'status' }, rules.words)
  const notices = new Notices()
  const sent = () => {
    const given = inputs.map(({ name, value }) => [name, value === '' ? null : Number(value)])
    return { ...Object.fromEntries(given), solo: solo.checked }
  }
  let edits = 0
  /** @type {Promise<any>} of the request before: an edit is checked after a refusal to save what stood before it */
  let earlier = Promise.resolve()
  const inOrder = (/** @type {() => Promise<any>} */ request) => (earlier = earlier.catch(() => null).then(request))
  const preview = async (/** @type {Event} */ { target }) => {
    const edit = ++edits
    try {
      // Alone every number is 1; a team that starts from there would rather start from the numbers of a team.
      const changed = target === solo ? { solo: solo.checked } : sent()
      const meant = await inOrder(() => postJSON('/api/v1/rules/preview', changed))
      if (edit !== edits) return
      words.textContent = meant.words
      for (const input of inputs) Object.assign(input, { value: meant[input.name], disabled: solo.checked })
      notices.clear()
    } catch (error) {
      if (edit === edits) notices.error(error)
    }
  }
  const content = [alone, h('div.counts', counts), words]
  const fields = h('fieldset.fields', { disabled: !mayChange, onInput: preview }, content)
  if (!mayChange) return openPanel(t('Rules'), h('div.fields', fields))
  const save = () => inOrder(() => postJSON('/api/v1/rules', sent()))
  return openForm(me, t('Rules'), fields, t('Save rules'), save, notices)
}

export async function openVerdictFirst(me, mayChange) {
  const { batches, chosen } = await getJSON('/api/v1/verdict-first')
  const choices = batches.map((batch) => check('batch', batch, batch, '', chosen.includes(batch)))
  const fields = [h('p', ABOUT), h('fieldset', { disabled: !mayChange }, group(t('Batches'), '', choices))]
  if (!mayChange) return openPanel(t('Verdict first'), h('div.fields', fields))
  const send = (data) => postJSON('/api/v1/verdict-first', { batches: data.getAll('batch') })
  return openForm(me, t('Verdict first'), fields, t('Save batches'), send)
}

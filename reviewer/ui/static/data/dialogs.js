// The dialogs of the Data tab: add spectra, import trajectories and annotations, export, take a batch back.

import { lasting } from '../common/browser_storage.js'
import { fill, h, part } from '../common/dom.js'
import { check, folded, line, number, radios, select } from '../common/fields.js'
import { getJSON, postJSON } from '../common/http.js'
import { t, tn } from '../common/language.js'
import { showError } from '../common/notices.js'
import { openPanel } from '../common/panels.js'
import { FileBox, upload } from './files.js'
import { button, reportOf } from './parts.js'

const KEPT_POLICY = 'so-data-policy'

/** @typedef {{files: File[], folders: readonly string[], tasks: Record<string, TaskText>}} Given known before */
/** @typedef {Record<string, any>} Values of fields by name */

/** The box of the dialog that was opened last. @type {FileBox | null} */
let box = null

/** Put dropped files into the dialog that is open; false where none takes files. @param {File[]} files */
export function addToDialog(files) {
  if (!box?.root.isConnected) return false
  box.add(files)
  return true
}

/** The files that were sent last. */
export const sentFiles = () => box?.files ?? []

/** @param {File[]} files */
const boxOf = (files) => (box = new FileBox(files))

/**
 * A dialog whose button sends its fields; it closes with what `send` returns, unless that is null.
 * @param {string} title @param {string} act on the button @param {import('../common/dom.js').Child[]} fields
 * @param {(values: Values, say: (words: string) => void) => Promise<any>} send
 * @returns {Promise<any>}
 */
function formDialog(title, act, fields, send) {
  return openPanel(title, (close) => {
    const error = h('p.note.look', { role: 'alert', hidden: true })
    const words = h('span.muted', { role: 'status' })
    const submit = h('button.primary', { type: 'submit' }, act)
    const onSubmit = async (/** @type {SubmitEvent} */ event) => {
      event.preventDefault()
      error.hidden = submit.disabled = true
      try {
        const result = await send(valuesOf(form, event.submitter), (text) => (words.textContent = text))
        if (result !== null) close(result)
      } catch (reason) {
        showError(error, reason)
        error.scrollIntoView({ block: 'nearest' })
      }
      words.textContent = ''
      submit.disabled = false
    }
    const cancel = button(t('Cancel'), () => close())
    const form = h('form.fields', { onSubmit }, fields, error, h('footer', words, cancel, submit))
    return form
  })
}

/** The values of a form: true and false of its boxes to tick. @returns {Values} */
function valuesOf(/** @type {HTMLFormElement} */ form, /** @type {HTMLElement | null} */ submitter) {
  const boxes = /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll('input[type=checkbox]'))
  const ticked = [...boxes].map((input) => [input.name, input.checked])
  return { ...Object.fromEntries(new FormData(form, submitter)), ...Object.fromEntries(ticked) }
}

/** A file or folder that the server reads itself. @param {readonly string[]} folders */
function onServer(folders) {
  const placeholder = t('inside {folders}', { folders: folders.join(t(' or ')) })
  return folders.length > 0 && line('on_server', t("Or a file or folder on the server's disk"), { placeholder })
}

/** @param {string} placeholder */
const batchField = (placeholder) => line('batch', t('Batch name (for filtering)'), { maxLength: 100, placeholder })

const about = (/** @type {string} */ text) => h('p.muted', text)

/** @param {Record<string, TaskText>} tasks @param {string} label @param {string} none */
const taskField = (tasks, label, none) =>
  select('task', label, [['', none], ...Object.entries(tasks).map(([key, { title }]) => [key, title])])

/** Add spectra. @param {Given} given @returns {Promise<Jobs | null>} */
export async function addSpectra({ files, folders, tasks }) {
  const all = await getJSON('/api/v1/live/policies')
  const kept = lasting.get(KEPT_POLICY)
  const policies = all
    .filter(({ kind }) => kind !== 'replay')
    .sort((a, b) => Number(b.key === kept) - Number(a.key === kept))
  const policy = select(
    'policy',
    t('Drafted by'),
    policies.map(({ key, title }) => [key, title]),
  )
  const health = h('p.muted', { role: 'status' })
  const choice = /** @type {HTMLSelectElement} */ (policy.querySelector('select'))
  const checkPolicy = async () => {
    const { ok, sentence } = await getJSON(`/api/v1/live/health?${new URLSearchParams({ policy: choice.value })}`)
    health.textContent = sentence
    health.classList.toggle('look', !ok)
  }
  choice.addEventListener('change', () => checkPolicy().catch(() => {}))
  checkPolicy().catch(() => {})
  const readable = t(
    'LAMOST, SDSS and DESI files, FITS images and tables, CSV, ECSV, text, JSON and Parquet, with or without gzip.',
  )
  const medium = select('medium', t('Wavelengths, where the file does not say'), [
    ['', t('air (assumed)')],
    ['air', t('air')],
    ['vacuum', t('vacuum')],
  ])
  const least = number('min_snr', t('Skip below S/N per pixel'), {
    min: 0,
    step: 'any',
    placeholder: t('none is skipped'),
  })
  const same = radios(t('Spectra that are here already for the same question with another text'), 'same_spectrum', [
    ['leave out', t('leave them out')],
    ['import', t('draft them all the same')],
  ])
  const { root } = boxOf(files)
  const task = taskField(tasks, t('Question: is it a …'), t('choose …'))
  Object.assign(part(task, 'select'), { required: true })
  const more = folded(t('More'), h('div.pair', medium, least), same)
  const fields = [about(readable), root, onServer(folders), h('div.pair', task, h('div', policy, health))]
  const send = (/** @type {Values} */ values, /** @type {any} */ say) => {
    lasting.set(KEPT_POLICY, values.policy)
    const stated = { medium: values.medium || null, min_snr: values.min_snr ? Number(values.min_snr) : null }
    return sendFiles('drafts', { ...values, ...stated }, say)
  }
  return formDialog(t('Add spectra'), t('Draft'), [...fields, batchField(t('e.g. plate 56414')), more], send)
}

/**
 * Send the files of the dialog, then its fields, unless it was closed meanwhile.
 * @param {string} path @param {Values} values @param {any} say
 */
async function sendFiles(path, values, say) {
  const { root, files } = /** @type {FileBox} */ (box)
  const paths = await upload(files, say)
  return root.isConnected ? postJSON(`/api/v1/${path}`, { ...values, files: paths }) : null
}

/** Import trajectories. @param {Given} given @returns {Promise<Jobs | null>} */
export function importRows({ files, folders }) {
  const meaning = t(
    'Spec-o3 JSON Lines, or ShareGPT rows with their images folder: as one zip, or as separate files. Survey files ' +
      'that are added with them give the spectra. Every row is checked before anything is saved. A long import ' +
      'runs in the background: you can leave this page.',
  )
  const same = radios(t('Spectra that are here already for the same task with another text'), 'same_spectrum', [
    ['ask', t('ask me')],
    ['import', t('import them all the same')],
    ['leave out', t('leave them out')],
  ])
  const { root } = boxOf(files)
  const skip = check('skip_bad', 'yes', t('Skip bad rows, import the rest'))
  const fields = [about(meaning), root, onServer(folders), batchField(t("the file's name")), skip, same]
  return formDialog(t('Import trajectories'), t('Import'), fields, (values, say) => sendFiles('imports', values, say))
}

/** Import annotations of Label Studio, or check them first. */
export function importAnnotations() {
  const meaning = t(
    'What people wrote and chose in Label Studio (JSON, JSON-MIN, CSV, TSV) becomes a comment on the item. An ' +
      'annotation that was imported before is not added again. The command spec-o3 annotations tasks writes the ' +
      'tasks for Label Studio.',
  )
  const result = h('div', { role: 'status' })
  const { root } = boxOf([])
  const props = { name: 'authors', rows: 2, maxLength: 4000, placeholder: 'ann@example.org=AB' }
  const authors = h('label.field', t('Authors who are people here, one per line'), h('textarea', props))
  const skip = check('skip_bad', 'yes', t('Skip what cannot be used, import the rest'))
  const dry = h('button', { type: 'submit', name: 'dry_run', value: 'yes' }, t('Check only'))
  const fields = [about(meaning), root, authors, skip, h('div.controls', dry), result]
  const title = t('Import annotations')
  return formDialog(title, title, fields, async ({ dry_run: dryRun = false, ...values }, say) => {
    const report = await sendFiles('annotations', { ...values, dry_run: Boolean(dryRun) }, say)
    fill(result, report && reportOf(report))
    return null
  })
}

/**
 * Export approved items. @param {Record<string, TaskText>} tasks @param {readonly BatchListed[]} batches
 * @param {string} [batch] chosen at first @returns {Promise<ExportState | null>}
 */
export function exportApproved(tasks, batches, batch) {
  const approved = batches.map(({ name, states }) => ({ name, n: states.approved ?? 0 })).filter(({ n }) => n > 0)
  const all = approved.reduce((sum, { n }) => sum + n, 0)
  const meaning = t(
    'Writes a folder with ShareGPT rows (LLaMA-Factory), conversational rows (TRL), the pictures, our own ' +
      'rows to import again, and a manifest that records how each item was approved.',
  )
  const none = t('No item is approved yet. Items are approved in the vote, on the Review tab.')
  const value = `approved-${new Date().toISOString().slice(0, 10)}`
  const of = select('batch', t('Batch'), [
    ['*', t('all batches ({n} approved)', { n: all })],
    ...approved.map(({ name, n }) => [name, t('{name} ({n} approved)', { name: name || t('(no name)'), n })]),
  ])
  const simulated = check('simulated', 'yes', t('Include simulated spectra (labelled)'))
  Object.assign(part(simulated, 'input'), { checked: true })
  Object.assign(part(of, 'select'), { value: batch ?? '*' })
  const fields = [
    about(meaning),
    line('name', t('Name of the folder'), { maxLength: 80, required: true, value }),
    h('div.pair', of, taskField(tasks, t('Task'), t('every task'))),
    ...[simulated, check('replace', 'yes', t('Replace an export of this name')), !all && h('p.note.look', none)],
  ]
  return formDialog(t('Export approved'), t('Export'), fields, (values) => {
    const filter = { task: values.task || null, batch: values.batch === '*' ? null : values.batch }
    return postJSON('/api/v1/exports', { ...values, name: values.name.trim(), ...filter })
  })
}

/** What to do with an export. @param {ExportListed} listed */
export function nextSteps({ name, folder }) {
  const command = (/** @type {string} */ text) => h('code.command', text)
  const zip = t('The zip has the rows, the pictures and the manifest. Another campaign imports it here, or with')
  const training = t('On a machine with a GPU and the training packages (docs/training.md has the settings):')
  const train = `spec-o3 sft --config sft_qwen2_5_vl_7b --data ${folder} --out runs/${name}`
  const parts = [h('h3', t('Train on it')), h('p', training), command(train), h('h3', t('Share it'))]
  const share = [h('p', zip), command(`spec-o3 import ${name}`)]
  return openPanel(t('What to do with {name}', { name }), h('div.fields', parts, share))
}

/** Take items of a batch back, or restore them. @param {BatchListed} batch */
export function takeBack(batch) {
  const meaning = t(
    'For items that were drafted or imported by mistake. Withdrawn items are in no queue, no export and no figure; ' +
      'nothing is deleted, and they can be restored. Items that people have worked on stay.',
  )
  const items = h('input', { maxLength: 40, placeholder: t('e.g. 12-48'), onInput: () => request('preview') })
  const [result, buttons] = [h('div'), h('footer')]
  const error = h('p.note.look', { role: 'alert', hidden: true })
  /** @param {'preview' | 'withdraw' | 'restore'} act */
  async function request(act) {
    const body = { batch: batch.name, items: items.value, act }
    try {
      const { free, withdrawn, report } = await postJSON('/api/v1/withdrawals', body)
      if (items.value !== body.items) return
      error.hidden = true
      fill(result, reportOf(report))
      const restore = tn('Restore {n} item', 'Restore {n} items', withdrawn)
      const withdraw = tn('Withdraw {n} item', 'Withdraw {n} items', free)
      fill(
        buttons,
        withdrawn > 0 && button(restore, () => request('restore')),
        free > 0 && button(withdraw, () => request('withdraw'), 'button.danger'),
      )
    } catch (reason) {
      fill(buttons)
      showError(error, reason)
    }
  }
  request('preview')
  const only = h('label.field', t('Only these items (empty: all)'), items)
  const content = h('div.fields', about(meaning), only, error, result, buttons)
  return openPanel(t('Take back {name}', { name: batch.name || t('(no name)') }), content)
}

// The dialogs of the Data tab: add spectra, import trajectories and annotations, export, take a batch back, and make a
// catalogue.

import { lasting } from '../common/browser_storage.js'
import { fill, h, part } from '../common/dom.js'
import { check, folded, line, number, radios, select } from '../common/fields.js'
import { getJSON, postJSON } from '../common/http.js'
import { t, tn } from '../common/language.js'
import { showError } from '../common/notices.js'
import { button } from '../common/page.js'
import { openPanel } from '../common/panels.js'
import { FileBox, upload } from './files.js'
import { reportOf } from './parts.js'

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

const errorLine = () => h('p.note.look', { role: 'alert', hidden: true })
const about = (/** @type {string} */ text) => h('p.muted', text)
const batchName = (/** @type {string} */ name) => name || t('(no name)')

/**
 * A dialog whose button sends its fields; it closes with what `send` returns, unless that is null.
 * @param {string} title @param {string} act on the button @param {import('../common/dom.js').Child[]} fields
 * @param {(values: Values, say: (words: string) => void) => Promise<any>} send @returns {Promise<any>}
 */
function formDialog(title, act, fields, send) {
  return openPanel(title, (close) => {
    const [error, words] = [errorLine(), h('span.muted', { role: 'status' })]
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
function valuesOf(form, submitter) {
  const boxes = [...form.querySelectorAll('input[type=checkbox]')].map((input) => [input.name, input.checked])
  return { ...Object.fromEntries(new FormData(form, submitter)), ...Object.fromEntries(boxes) }
}

/**
 * What is taken: its meaning, the box of files, and a file or folder that the server reads itself.
 * @param {string} meaning @param {Partial<Given>} given
 */
function fileFields(meaning, { files = [], folders = [] } = {}) {
  box = new FileBox(files)
  const placeholder = t('inside {folders}', { folders: folders.join(t(' or ')) })
  const onServer = line('on_server', t("Or a file or folder on the server's disk"), { placeholder })
  return [about(meaning), box.root, folders.length > 0 && onServer]
}

const batchField = (placeholder) => line('batch', t('Batch name (for filtering)'), { maxLength: 100, placeholder })

const taskField = (tasks, label, none) =>
  select('task', label, [['', none], ...Object.entries(tasks).map(([key, { title }]) => [key, title])])

/** What happens to spectra that are here already: the first choice, unless the person changes it. */
const sameField = (label, choices) => radios(label, 'same_spectrum', Object.entries(choices))

/** Add spectra. @param {Given} given @returns {Promise<Jobs | null>} */
export async function addSpectra({ tasks, ...given }) {
  const all = await getJSON('/api/v1/live/policies')
  const kept = lasting.get(KEPT_POLICY)
  const policies = all.filter(({ kind }) => kind !== 'replay').map(({ key, title }) => [key, title])
  policies.sort(([a], [b]) => Number(b === kept) - Number(a === kept))
  const policy = select('policy', t('Drafted by'), policies)
  const health = h('p.muted', { role: 'status' })
  const choice = /** @type {HTMLSelectElement} */ (part(policy, 'select'))
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
  const media = Object.entries({ '': t('air (assumed)'), air: t('air'), vacuum: t('vacuum') })
  const medium = select('medium', t('Wavelengths, where the file does not say'), media)
  const least = { min: 0, step: 'any', placeholder: t('none is skipped') }
  const noise = number('min_snr', t('Skip below S/N per pixel'), least)
  const same = sameField(t('Spectra that are here already for the same question with another text'), {
    'leave out': t('leave them out'),
    import: t('draft them all the same'),
  })
  const task = taskField(tasks, t('Question: is it a …'), t('choose …'))
  Object.assign(part(task, 'select'), { required: true })
  const more = folded(t('More'), h('div.pair', medium, noise), same)
  const choices = h('div.pair', task, h('div', policy, health))
  const fields = [...fileFields(readable, given), choices, batchField(t('e.g. plate 56414')), more]
  return formDialog(t('Add spectra'), t('Draft'), fields, (values, say) => {
    lasting.set(KEPT_POLICY, values.policy)
    const stated = { medium: values.medium || null, min_snr: values.min_snr ? Number(values.min_snr) : null }
    return sendFiles('drafts', { ...values, ...stated }, say)
  })
}

/** Send the files of the dialog, then its fields, unless it was closed meanwhile. */
async function sendFiles(path, values, say) {
  const { root, files } = /** @type {FileBox} */ (box)
  const paths = await upload(files, say)
  say(t('The server reads the files …')) // and converts logs of agents before it answers
  return root.isConnected ? postJSON(`/api/v1/${path}`, { ...values, files: paths }) : null
}

/** Import trajectories. @param {Given} given @returns {Promise<Jobs | null>} */
export function importRows(given) {
  const meaning = t(
    'Spec-o3 JSON Lines, ShareGPT rows with their images folder, or logs of other agents (ATIF, Inspect, ' +
      'OpenTelemetry, Claude Code): as one zip, or as separate files. Survey files that are added with them give ' +
      'the spectra. Every row is checked before anything is saved. A long import ' +
      'runs in the background: you can leave this page.',
  )
  const same = sameField(t('Spectra that are here already for the same task with another text'), {
    ...{ ask: t('ask me'), import: t('import them all the same'), 'leave out': t('leave them out') },
  })
  const skip = check('skip_bad', 'yes', t('Skip bad rows, import the rest'))
  const fields = [...fileFields(meaning, given), batchField(t("the file's name")), skip, same]
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
  const props = { name: 'authors', rows: 2, maxLength: 4000, placeholder: 'ann@example.org=AB' }
  const authors = h('label.field', t('Authors who are people here, one per line'), h('textarea', props))
  const skip = check('skip_bad', 'yes', t('Skip what cannot be used, import the rest'))
  const dry = h('button', { type: 'submit', name: 'dry_run', value: 'yes' }, t('Check only'))
  const fields = [...fileFields(meaning), authors, skip, h('div.controls', dry), result]
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
export function exportApproved(tasks, batches, batch = '*') {
  const approved = batches.filter(({ states }) => states.approved > 0)
  const all = approved.reduce((sum, { states }) => sum + states.approved, 0)
  const meaning = t(
    'Writes a folder with ShareGPT rows (LLaMA-Factory), conversational rows (TRL), the pictures, our own ' +
      'rows to import again, and a manifest that records how each item was approved.',
  )
  const none = t('No item is approved yet. Items are approved in the vote, on the Review tab.')
  const value = `approved-${new Date().toISOString().slice(0, 10)}`
  const choices = approved.map(({ name, states }) => [
    name,
    t('{name} ({n} approved)', { name: batchName(name), n: states.approved }),
  ])
  const of = select('batch', t('Batch'), [['*', t('all batches ({n} approved)', { n: all })], ...choices])
  Object.assign(part(of, 'select'), { value: batch })
  const fields = [
    about(meaning),
    line('name', t('Name of the folder'), { maxLength: 80, required: true, value }),
    h('div.pair', of, taskField(tasks, t('Task'), t('every task'))),
    check('simulated', 'yes', t('Include simulated spectra (labelled)'), '', true),
    check('replace', 'yes', t('Replace an export of this name')),
    !all && h('p.note.look', none),
  ]
  return formDialog(t('Export approved'), t('Export'), fields, (values) => {
    const filter = { task: values.task || null, batch: values.batch === '*' ? null : values.batch }
    return postJSON('/api/v1/exports', { ...values, name: values.name.trim(), ...filter })
  })
}

/** Make a catalogue. @param {Record<string, TaskText>} tasks @returns {Promise<CatalogueState | null>} */
export async function makeCatalogue(tasks) {
  const views = await getJSON('/api/v1/views')
  const meaning = t(
    'Writes a folder for a paper with the objects of a class that people approved with YES: tables (CSV, VOTable, ' +
      'FITS, AAS, CDS), a figure of each object, the methods text and the bibliography. Each file can be made anew ' +
      'from the data in it.',
  )
  const task = taskField(tasks, t('Class'), t('choose …'))
  Object.assign(part(task, 'select'), { required: true })
  const choices = views.map(({ id, name }) => [String(id), name])
  const more = [
    line('title', t('Title'), { maxLength: 300 }),
    line('authors', t('Authors, separated by ;'), { maxLength: 20_000 }),
    line('licence', t('Licence'), { maxLength: 200, placeholder: t('e.g. CC-BY-4.0') }),
    check('simulated', 'yes', t('Include simulated spectra (labelled)')),
    check('replace', 'yes', t('Replace a catalogue of this name')),
  ]
  const fields = [
    about(meaning),
    line('name', t('Name of the folder'), { maxLength: 80, required: true }),
    h('div.pair', task, select('view', t('Items'), [['', t('all of the class')], ...choices])),
    folded(t('More'), h('div.fields', more)),
  ]
  return formDialog(t('Make a catalogue'), t('Make it'), fields, async (values) => {
    const authors = values.authors.split(';').map((name) => name.trim())
    const chosen = { view: values.view ? Number(values.view) : null, authors: authors.filter(Boolean) }
    const answer = await postJSON('/api/v1/catalogues', { ...values, name: values.name.trim(), ...chosen })
    if (answer.state === 'failed') throw new Error(answer.error)
    return answer
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
  const [result, buttons, error] = [h('div'), h('footer'), errorLine()]
  /** @param {'preview' | 'withdraw' | 'restore'} act */
  async function request(act) {
    const body = { batch: batch.name, items: items.value, act }
    try {
      const { free, withdrawn, report } = await postJSON('/api/v1/withdrawals', body)
      if (items.value !== body.items) return
      error.hidden = true
      fill(result, reportOf(report))
      const restore = button(tn('Restore {n} item', 'Restore {n} items', withdrawn), () => request('restore'))
      const withdraw = tn('Withdraw {n} item', 'Withdraw {n} items', free)
      const take = button(withdraw, () => request('withdraw'), 'button.danger')
      fill(buttons, withdrawn > 0 && restore, free > 0 && take)
    } catch (reason) {
      if (act === 'preview' && items.value !== body.items) return
      fill(buttons)
      showError(error, reason)
    }
  }
  request('preview')
  const only = h('label.field', t('Only these items (empty: all)'), items)
  const content = h('div.fields', about(meaning), only, error, result, buttons)
  return openPanel(t('Take back {name}', { name: batchName(batch.name) }), content)
}

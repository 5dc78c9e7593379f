// Files dropped anywhere on the page: the Data tab offers to add them. The browser would open them in place of the
// page, and unsent text would be lost. A desk that takes files itself does so before this.

import { h } from './dom.js'
import { t } from './language.js'
import { openTab } from './tabs.js'

const SHOWN = 3000 // ms after the last movement of the file

/** @type {File[]} */
let dropped = []

/** The files that were dropped, for the Data tab, once. The event "so-files" of the window announces later ones. */
export function takeFiles() {
  const files = dropped
  dropped = []
  return files
}

const mayAdd = () => document.documentElement.classList.contains('so-manages')
const words = () =>
  mayAdd()
    ? t('Drop the files to add their spectra to the queue. On the Live tab they are only inspected.')
    : t('Only coordinators add spectra. Drop files on the Live tab to inspect them there.')

/** Keep the page when a file is dropped anywhere on it. */
export function keepPageOnDrop() {
  const hint = h('p.so-drop-hint', { role: 'status' })
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  document.body.append(hint)

  /** @param {DragEvent} event */
  function take(event) {
    const { dataTransfer } = event
    if (event.defaultPrevented || !dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    if (event.type === 'dragover') dataTransfer.dropEffect = mayAdd() ? 'copy' : 'none'
    else if (mayAdd())
      filesOf(dataTransfer).then((files) => {
        dropped = files
        openTab('data')
        dispatchEvent(new Event('so-files'))
      })
    clearTimeout(timer)
    const isTaken = event.type === 'drop' && mayAdd()
    if (!hint.firstChild || isTaken) hint.textContent = isTaken ? '' : words()
    timer = setTimeout(() => (hint.textContent = ''), SHOWN)
  }
  for (const type of /** @type {const} */ (['dragover', 'drop'])) addEventListener(type, take)
}

/** The files of a drop, those in dropped folders included. @param {DataTransfer} transfer */
async function filesOf(transfer) {
  const files = [...transfer.files]
  // After the event, the browser gives neither.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.())
  if (!entries.some((entry) => entry?.isDirectory)) return files
  return (await Promise.all(entries.map(filesIn))).flat()
}

/** @param {any} entry of the file system @returns {Promise<File[]>} */
async function filesIn(entry) {
  if (!entry) return []
  if (entry.isFile) return [await new Promise((resolve, reject) => entry.file(resolve, reject))]
  const reader = entry.createReader()
  const next = () => new Promise((resolve, reject) => reader.readEntries(resolve, reject))
  const entries = []
  for (let some = await next(); some.length > 0; some = await next()) entries.push(...some)
  return (await Promise.all(entries.map(filesIn))).flat()
}

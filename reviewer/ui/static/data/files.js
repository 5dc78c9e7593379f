// Files of a dialog: chosen, dropped, or a whole folder; and their way to the server, one by one.

import { fill, h } from '../common/dom.js'
import { number } from '../common/format.js'
import { postForm } from '../common/http.js'
import { t, tn, withCommas } from '../common/language.js'
import { button } from '../common/page.js'

const SHOWN = 6 // names

/** A box for files in a dialog. */
export class FileBox {
  /** @param {File[]} files */
  constructor(files) {
    this.files = files
    this.words = h('p.muted', { role: 'status' })
    const single = this.#input({ 'aria-label': t('Files') })
    const folder = this.#input({ 'aria-label': t('A folder with its files'), webkitdirectory: true })
    const choose = button(t('Choose files …'), () => single.click())
    const chooseFolder = button(t('Choose a folder …'), () => folder.click())
    this.root = h('div.file-box', h('div.controls', choose, chooseFolder), single, folder, this.words)
    this.#set(files)
  }

  /** @param {File[]} files hidden ones are left out */
  add(files) {
    this.#set([...this.files, ...files.filter((file) => !file.name.startsWith('.'))])
  }

  #input(props) {
    const onChange = ({ target }) => {
      this.add([...target.files])
      target.value = ''
    }
    return h('input', { type: 'file', multiple: true, hidden: true, onChange, ...props })
  }

  /** @param {File[]} files */
  #set(files) {
    this.files = files
    const n = files.length
    const names = files.slice(0, SHOWN).map((file) => file.name)
    if (n > SHOWN) names.push(t('and {n} more', { n: n - SHOWN }))
    const size = number(files.reduce((sum, file) => sum + file.size, 0) / 1e6, 1)
    const listed = `${tn('{n} file', '{n} files', n)}, ${size} MB: ${withCommas(names)} `
    const clear = button(t('remove all'), () => this.#set([]), 'button.link')
    fill(this.words, n ? [listed, clear] : t('No files yet: choose them, or drop them here.'))
  }
}

/**
 * Send files to the server, one at a time. @param {File[]} files @param {(words: string) => void} onProgress
 * @returns {Promise<string[]>} their paths there, for the next request
 */
export async function upload(files, onProgress) {
  const paths = /** @type {string[]} */ ([])
  for (const [at, { name }] of files.entries()) {
    onProgress(t('Sending file {number} of {all}: {name}', { number: at + 1, all: files.length, name }))
    const form = new FormData()
    form.append('files', files[at], name)
    paths.push(...(await postForm('/gradio_api/upload', form)))
  }
  return paths
}

import type { Chunk } from './clients/body-values.ts'

/**
 * Chunks that wait. A program may write a body byte by byte: `shift` of an array of so many
 * elements copies all the others.
 */
export class ChunkQueue<One extends Chunk = Chunk> {
  #chunks: One[] = []
  #first = 0

  get isEmpty(): boolean {
    return this.#first === this.#chunks.length
  }

  push(chunk: One): void {
    this.#chunks.push(chunk)
  }

  shift(): One | undefined {
    if (this.isEmpty) return undefined
    const chunk = this.#chunks[this.#first++]
    if (this.#first * 2 >= this.#chunks.length) this.#forget()
    return chunk
  }

  takeAll(): One[] {
    this.#forget()
    const chunks = this.#chunks
    this.#chunks = []
    return chunks
  }

  #forget(): void {
    this.#chunks.splice(0, this.#first)
    this.#first = 0
  }
}

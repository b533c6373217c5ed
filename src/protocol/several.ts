// Several messages in one, because every message wakes a thread or a process.
export interface Several<M> {
  readonly type: 'several';
  readonly messages: readonly M[];
}

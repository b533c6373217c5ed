/** True if two types are identical, not only assignable in both directions: `any` equals only `any`. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Fails to compile unless the type is `true`. */
export function expectType<_T extends true>(): void {}

export default (value: number): number => value + 1;

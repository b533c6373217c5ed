// The program that only starts.
const one: number = 1;
console.log(one);

// A program that connects to a local cluster.
import { connect } from 'longpole';
import { square } from './runTasks.js';

await using client = await connect({ workers: 2 });
const squares = await client.gather(client.map(square, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
const total = squares.reduce((sum, value) => sum + value, 0);
console.log(client.schedulerInfo().type, total);

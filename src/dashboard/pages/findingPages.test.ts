import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QUESTIONS } from '../../analysis/questions.js';
import { pageOfQuestion } from './pageNames.js';

/** Questions that only the command line has: DASF's tables. */
const WITHOUT_PAGE = ['function-bottleneck', 'task-bottleneck', 'task-balance'];

test('every question that a finding can name has a page', () => {
  for (const { name } of QUESTIONS)
    assert.equal(pageOfQuestion(name) === undefined, WITHOUT_PAGE.includes(name), name);
});

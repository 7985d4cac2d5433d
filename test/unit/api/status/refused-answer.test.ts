// What is told of a refusal of another server, code by code.
import test from 'ava';
import { answerRefused, NO_TEXT } from '../../../../api/status/refused-answer.ts';

const OVERLOADED = 'the server has received too many requests and has asked us to try again later';
const LATE = 'the server was unable to return a response in the time allotted, but may still be processing the request';

/** What is told where the answer says `said`. */
const TOLD: readonly (readonly [code: number, reason: string, message: string])[] = [
  [400, 'BadRequest', 'the server rejected our request for an unknown reason'],
  [401, 'Unauthorized', 'the server has asked for the client to provide credentials'],
  [403, 'Forbidden', 'said'],
  [404, 'NotFound', 'the server could not find the requested resource'],
  [405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  [406, 'NotAcceptable', 'said'],
  [409, 'Conflict', 'the server reported a conflict'],
  [410, '', 'the server responded with the status code 410 but did not return more information'],
  [415, 'UnsupportedMediaType', 'said'],
  [422, 'Invalid', 'the server rejected our request due to an error in our request'],
  [429, 'TooManyRequests', OVERLOADED],
  [499, '', 'the server responded with the status code 499 but did not return more information'],
  [500, 'InternalError', 'an error on the server ("said") has prevented the request from succeeding'],
  [502, 'InternalError', 'an error on the server ("said") has prevented the request from succeeding'],
  [503, 'ServiceUnavailable', 'the server is currently unable to handle the request'],
  [504, 'Timeout', LATE],
];

for (const [code, reason, message] of TOLD) {
  test(`a refusal with ${code} is told as clients know it`, (t) => {
    t.deepEqual(answerRefused(code, 'said'), { reason, message });
  });
}

test('who says nothing of what is acceptable has it said for him, and of other refusals nothing is made up', (t) => {
  for (const said of ['', NO_TEXT]) {
    t.is(
      answerRefused(406, said).message,
      'the server was unable to respond with a content type that the client supports',
    );
    t.is(answerRefused(403, said).message, said);
    t.is(answerRefused(415, said).message, said);
  }
});

// Run a task when the calls pause, or now and then where they do not, and let only the newest run
// have a say.

const PAUSE = 300; // milliseconds without a keystroke
const PATIENCE = 1000; // milliseconds after which it runs without a pause

export class Latest {
  #timer = null;
  #since = null; // the first call that no run has answered
  #running = null;

  // The task is given a signal, which is aborted as soon as there is a newer run.
  later(task) {
    clearTimeout(this.#timer);
    this.#since ??= performance.now();
    const left = this.#since + PATIENCE - performance.now();
    this.#timer = setTimeout(() => this.now(task), Math.min(PAUSE, left));
  }

  // What could not be done is tried once more, unless there is a newer run before.
  after(seconds, task) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.now(task), 1000 * seconds);
  }

  now(task) {
    this.cancel();
    this.#running = new AbortController();
    task(this.#running.signal);
  }

  cancel() {
    clearTimeout(this.#timer);
    this.#since = null;
    this.#running?.abort();
  }
}

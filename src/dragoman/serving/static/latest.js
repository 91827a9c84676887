// Run a task some time after the last call, and let only the newest run have a say.

const PAUSE = 300; // milliseconds without a keystroke

export class Latest {
  #timer = null;
  #running = null;

  // The task is given a signal, which is aborted as soon as there is a newer call.
  later(task) {
    this.cancel();
    this.#timer = setTimeout(() => this.now(task), PAUSE);
  }

  now(task) {
    this.cancel();
    this.#running = new AbortController();
    task(this.#running.signal);
  }

  cancel() {
    clearTimeout(this.#timer);
    this.#running?.abort();
  }
}

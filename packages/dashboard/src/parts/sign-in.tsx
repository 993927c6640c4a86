import { problem, signIn } from '../state/session.ts'
import { Icon } from './icon.tsx'

export function SignIn() {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const given = new FormData(event.currentTarget as HTMLFormElement).get('token')
    if (typeof given === 'string' && given.trim() !== '') signIn(given.trim())
  }
  return (
    <main class="card sign-in">
      <h1 class="row">
        <Icon name="brand" size={24} /> Busbar
      </h1>
      <p class="dim">
        This page needs the token of the admin port: <code>admin.token</code> of the config.{' '}
        <code>busbar start --open</code> opens it with a token of its own.
      </p>
      {problem.value !== null && (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
      <form onSubmit={submit}>
        <label class="field">
          Token
          <input name="token" type="password" autocomplete="off" required autofocus />
        </label>
        <button class="primary" type="submit">
          Sign in
        </button>
      </form>
    </main>
  )
}

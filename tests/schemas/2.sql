BEGIN TRANSACTION;
CREATE TABLE autosaves (
    person TEXT NOT NULL REFERENCES people (initials),
    item INTEGER NOT NULL REFERENCES items (id),
    base_version INTEGER NOT NULL REFERENCES versions (id),
    body TEXT NOT NULL CHECK (json_valid(body)),
    at TEXT NOT NULL,
    PRIMARY KEY (person, item, base_version)
);
INSERT INTO "autosaves" VALUES('RE',4,4,'{"steps": ["half a sent"]}','2026-11-22T13:03:00.000+00:00');
CREATE TABLE barred (
    person TEXT NOT NULL REFERENCES people (initials),
    item INTEGER NOT NULL REFERENCES items (id),
    PRIMARY KEY (person, item)
) WITHOUT ROWID;
INSERT INTO "barred" VALUES('AU',7);
CREATE TABLE blind_assignments (
    token TEXT PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES blind_sessions (id),
    scorer TEXT NOT NULL REFERENCES people (initials),
    kind TEXT NOT NULL CHECK (kind IN ('scores', 'pair')),
    place INTEGER NOT NULL,
    -- The one to score, or the left one of a pair.
    version INTEGER NOT NULL REFERENCES versions (id),
    on_the_right INTEGER REFERENCES versions (id),
    spectrum TEXT REFERENCES spectra (sha256),
    repeat_of TEXT REFERENCES blind_assignments (token),
    gold INTEGER NOT NULL,
    UNIQUE (session, scorer, place),
    CHECK ((kind = 'pair') = (on_the_right IS NOT NULL))
) WITHOUT ROWID;
INSERT INTO "blind_assignments" VALUES('01fxZNj0GiNzQ34INd2boCguAAScRll5kV0qZ0sCw-g',3,'RE','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('3owXzo9s0-Ve_XAvflltRpj5VuYoBLOvvvSjJD7JbeY',1,'AU','pair',6,4,3,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('6f3UfyqxSzcB8KhOD5x-0EZLxfELFs2xI5J2MlqTfV0',2,'AU','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('7tfQ1Fc2Oa1cOPaB3vyhuaS5rSgpRFVCzfn0rmDnbcg',1,'RE','scores',3,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('8aI3g525FF4pDF30d5D5_AysKx2Qn3YjOfG-bU0BE_k',3,'RE','scores',2,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('9GdrV9afKtRY8tlFaVZISyYtfP4SWgzj44LW4NbgTJU',2,'RE','pair',6,6,5,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('9S81G35Jkj-Nb_L9h1Mq7r2sfP9Sgnz9_JkcFg7evzc',3,'RE','scores',4,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('ABIlowTh-_rXkZtUiJBrSo8qeVWMColyKgP0hWf4etg',1,'AU','pair',5,5,6,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('Ahg8K8rb1v3X-kcvP_RhPsgDpNK6uy9DeohjHJsoPrI',3,'AU','pair',6,4,3,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('E7V9R279svJGFQ-TFEg1SZXXxW3YHNzO6-RZib3HgG8',1,'RE','scores',2,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('Fc2nr7UusUKn47_1heTZW0n0rP6Ovka7FIBl9MMb7vo',2,'AU','scores',3,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('IIvXVdaMb8QnnS29C_0L-WeY739mwQmSmLV2KUzIFZk',2,'AU','scores',2,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('IK8UKrqZl8BKIr0fomGVXnlesxMg-pnKk4IWqrw9_8Q',3,'AU','pair',5,5,6,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('JTl_OIAWg1vRHGxvIB5hsHut-fJTUzYp-qOHsBVK_kk',1,'RE','pair',5,3,4,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('LWpZZtrYLJcp0L2saXjVnOEwElTFIE6dI_xFrxCb9Qo',3,'AU','scores',2,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('M7PPzjzGR3dKuYmrosoC23HbveWe1FPUOzG_EWsnbzY',1,'AU','scores',4,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('NX5QikUUQ4iOG82aJ9Ze226F-_GBSyJWEV6mSyXRteM',3,'AU','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('QyyqPljlbcR7Yf5kOaBNP07FftxFs6X7G8hcuoRbzqc',3,'RE','pair',5,3,4,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('R1qiir_SXoBb-L4E_cWaVL3943jz_WsHVkPdp_jiHWc',1,'AU','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('_JykbeqaEg3NMeQVKB7Hh4ZZmeQbqyjV7CA_BkPdOdw',2,'RE','scores',2,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('_vPbk2A9hmZcQ11DJ3S0OQk03uTK_ZLrOZLHdhpU0iA',1,'RE','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('aBDwLxq6sUSsue2fFRmErK02MiLc9iYqyoRYF_X8B7k',1,'RE','pair',6,6,5,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('b161IZ7heewxtXAFX7zviX-jFLLZEB7u2y0wshyub3k',2,'RE','scores',4,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('dxuFGyRvWcLQFKdM_-jpZcbY6FGESNxRk-trF4LM1DU',2,'AU','scores',4,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('iGJUE5ICe8IEOT3JhYypF_QIZ1UEtfwUFu2OOQSvCfY',3,'RE','pair',6,6,5,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('iTqi3ISOUE4VQEpsqbGdKHueBXhIad5grm3uWK4-y-A',2,'AU','pair',6,4,3,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('lQzWgEbqDsubelZlo3juweN2SbnFVkDPkNeHEjEBk8w',3,'AU','scores',3,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('mYbim1U0e_c346xWFF4uffrmn6O2NvElekeKBRm5Yt0',1,'AU','scores',2,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('reNljTqXUcLZ4pj-zH-tD2aZfCmZI1mqJOKEJULYsLk',1,'RE','scores',4,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('sBHTlA99mmr02eKbzCB6Umu66ViuMjL10ggrAWfK60E',1,'AU','scores',3,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('shoK96A_wDgagOdI4pK22EJ45-gQjoRL72m9aDm6eJA',2,'RE','scores',3,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('vpbbE5Q6-003p0ClxvmMAmIYE22jx4rFVFXtAxahF-0',2,'RE','pair',5,3,4,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('wARnyKw8AwLNXonq3VyS2ecsSYsqzqLkIsghrIxjiW8',3,'AU','scores',4,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('yLk8P0dKr2IXQCavl7vCTXhdkJiPAG8w6n_VL3odxH8',2,'AU','pair',5,5,6,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('yb91N7Y4g7IRN7_LjJWuTdXlyh7vr_FPxjIgp5mcTsw',3,'RE','scores',3,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('yeCXhSItwLHMRaYknsg35baX6mrZ-ftGNI_l557zEJI',2,'RE','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
CREATE TABLE blind_judgements (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES blind_sessions (id),
    judge TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES versions (id),
    on_the_right INTEGER REFERENCES versions (id),
    -- NULL: nothing that can be read as one.
    answer TEXT CHECK (answer IS NULL OR json_valid(answer)),
    reasoning TEXT NOT NULL,
    settings TEXT NOT NULL CHECK (json_valid(settings)),
    said TEXT NOT NULL CHECK (json_valid(said)),
    usage TEXT NOT NULL CHECK (json_valid(usage)),
    cost REAL,
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
INSERT INTO "blind_judgements" VALUES(1,'9eac7a358f034860aad6909cbd4b4986',1,'judge-70b',3,NULL,'{"coherence": 3, "consistency": 4, "comment": "Sound.", "wrong_steps": []}','First the lines.','{"temperature": 0.0}','["{...}"]','{"requests": 100, "prompt": 20, "cached": 0, "completion": 0}',0.0012,'CO','2026-11-22T13:43:00.000+00:00');
CREATE TABLE blind_preferences (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    assignment TEXT NOT NULL REFERENCES blind_assignments (token),
    preference TEXT NOT NULL CHECK (preference IN ('left', 'right', 'equal', 'both bad')),
    comment TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "blind_preferences" VALUES(1,'a31500dedd16485a80f9f691ba928508','JTl_OIAWg1vRHGxvIB5hsHut-fJTUzYp-qOHsBVK_kk','left','','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_preferences" VALUES(2,'6c0ed005a8af4810badae8075deda3cf','aBDwLxq6sUSsue2fFRmErK02MiLc9iYqyoRYF_X8B7k','left','','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_preferences" VALUES(3,'302134b0ced94627a51a466dffd37e19','vpbbE5Q6-003p0ClxvmMAmIYE22jx4rFVFXtAxahF-0','left','','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_preferences" VALUES(4,'e962f70d624d45f397c1f8351a66e104','9GdrV9afKtRY8tlFaVZISyYtfP4SWgzj44LW4NbgTJU','left','','2026-11-22T13:23:00.000+00:00');
CREATE TABLE blind_scores (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    assignment TEXT NOT NULL REFERENCES blind_assignments (token),
    -- NULL: cannot tell from these data.
    coherence INTEGER CHECK (coherence BETWEEN 0 AND 5),
    consistency INTEGER CHECK (consistency BETWEEN 0 AND 5),
    comment TEXT NOT NULL,
    wrong_steps TEXT NOT NULL CHECK (json_valid(wrong_steps)),
    at TEXT NOT NULL
);
INSERT INTO "blind_scores" VALUES(1,'d9a01e78fe644123b9b37410c75f2789','_vPbk2A9hmZcQ11DJ3S0OQk03uTK_ZLrOZLHdhpU0iA',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(2,'a6270ea3d7474376b0e00362a375bd34','E7V9R279svJGFQ-TFEg1SZXXxW3YHNzO6-RZib3HgG8',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(3,'a9b9dc5b4a404f95b70d0f4b8673108a','7tfQ1Fc2Oa1cOPaB3vyhuaS5rSgpRFVCzfn0rmDnbcg',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(4,'3755d1a142de432ab1383122562b91b9','reNljTqXUcLZ4pj-zH-tD2aZfCmZI1mqJOKEJULYsLk',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(5,'7de4c90bb56149828c8ff999660b400e','yeCXhSItwLHMRaYknsg35baX6mrZ-ftGNI_l557zEJI',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_scores" VALUES(6,'4ac15ee58e5743e0a68edd1a152dc37b','_JykbeqaEg3NMeQVKB7Hh4ZZmeQbqyjV7CA_BkPdOdw',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_scores" VALUES(7,'73e533c4a26e47e4acbf3cfec0f0a5ba','shoK96A_wDgagOdI4pK22EJ45-gQjoRL72m9aDm6eJA',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_scores" VALUES(8,'c794946cec164cd39e1256f0b3486c8e','b161IZ7heewxtXAFX7zviX-jFLLZEB7u2y0wshyub3k',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
CREATE TABLE blind_sessions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    plan TEXT NOT NULL CHECK (json_valid(plan)),
    -- What the tasks ask, in the words of the day: task files may change while people score.
    questions TEXT NOT NULL CHECK (json_valid(questions)),
    notes TEXT NOT NULL CHECK (json_valid(notes)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
INSERT INTO "blind_sessions" VALUES(1,'32bf6cb18b4c4959a984f41f9aca71c5','ours against gpt','{"each": 2, "filter": {"batch": null, "disagreement": null, "simulated": null, "snr_max": null, "snr_min": null, "states": [], "survey": null}, "giveaways": "flag", "gold": [], "items": [3, 4, 5, 6], "mode": "both", "name": "ours against gpt", "number": null, "repeats": 0, "scorers": ["RE", "AU"], "seed": 1, "sources": [], "tasks": []}','{"cv": {"guide": "- **State 1: quiescence and low state:**\n  - **(Primary):** Broad emission in the Balmer series, Hα 6563 and Hβ 4861 first; equivalent width of tens of Å, FWHM above about 1000 km/s.\n  - **(Secondary):** Double peaks in Hα, Hβ or He I (an inclined disc): two maxima 500 to 1500 km/s apart around a central dip.\n  - **(Secondary):** Emission of He I 4471, 5876, 6678 and often weak He II 4686; a Balmer decrement flatter than in nebulae.\n  - **(Secondary):** In faint systems the white dwarf shows: broad Balmer absorption around the emission, a blue continuum; TiO bands of the donor in the red.\n- **State 2: outburst and high state (dwarf novae in outburst, novalikes):**\n  - **(Primary):** A steep blue continuum with weak Balmer lines: broad absorption troughs with narrow emission cores, Hα most filled in; Hα often still in emission.\n  - **(Secondary):** He II 4686 and the Bowen blend 4640 in emission.\n- **State 3: magnetic systems:**\n  - **(Secondary):** He II 4686 nearly as strong as Hβ (ratio of equivalent widths above 0.4), narrow asymmetric lines, sometimes cyclotron humps.\n- **Check before deciding:**\n  - **(Check):** Two Balmer lines at one velocity at least; a single line may be a sky residual, a cosmic ray or an arm join. The redshift is that of a star.\n- **(Confusers):** objects that look alike, and how to tell them apart:\n  - **Active M dwarf (dMe):** narrow Hα (unresolved, a few Å of equivalent width) on an M-dwarf spectrum with TiO and CaH, no blue continuum, no He II.\n  - **Nebula, H II region, emission-line galaxy:** narrow lines with [O III] 5007, [N II] 6583, [S II] 6716; a CV shows no forbidden lines (old novae aside).\n  - **Quasar or Seyfert galaxy:** broad lines at wavelengths that fit a large redshift (Mg II 2800, C IV 1549), not the Balmer series near zero velocity.\n  - **Be star, Herbig Ae/Be, T Tauri star:** emission narrower than about 600 km/s on an early-type or late-type photosphere; Li I 6708 in T Tauri stars.\n  - **Symbiotic star:** an M giant''s TiO bands with narrow emission, He II 4686, [O III], Raman O VI 6825.", "question": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.", "title": "Cataclysmic Variable (CV)"}}','[]','CO','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_sessions" VALUES(2,'d8bbbfe007f24da3a39a2960f6646783','ours against gpt','{"each": 2, "filter": {"batch": null, "disagreement": null, "simulated": null, "snr_max": null, "snr_min": null, "states": [], "survey": null}, "giveaways": "flag", "gold": [], "items": [3, 4, 5, 6], "mode": "both", "name": "ours against gpt", "number": null, "repeats": 0, "scorers": ["RE", "AU"], "seed": 1, "sources": [], "tasks": []}','{"cv": {"guide": "- **State 1: quiescence and low state:**\n  - **(Primary):** Broad emission in the Balmer series, Hα 6563 and Hβ 4861 first; equivalent width of tens of Å, FWHM above about 1000 km/s.\n  - **(Secondary):** Double peaks in Hα, Hβ or He I (an inclined disc): two maxima 500 to 1500 km/s apart around a central dip.\n  - **(Secondary):** Emission of He I 4471, 5876, 6678 and often weak He II 4686; a Balmer decrement flatter than in nebulae.\n  - **(Secondary):** In faint systems the white dwarf shows: broad Balmer absorption around the emission, a blue continuum; TiO bands of the donor in the red.\n- **State 2: outburst and high state (dwarf novae in outburst, novalikes):**\n  - **(Primary):** A steep blue continuum with weak Balmer lines: broad absorption troughs with narrow emission cores, Hα most filled in; Hα often still in emission.\n  - **(Secondary):** He II 4686 and the Bowen blend 4640 in emission.\n- **State 3: magnetic systems:**\n  - **(Secondary):** He II 4686 nearly as strong as Hβ (ratio of equivalent widths above 0.4), narrow asymmetric lines, sometimes cyclotron humps.\n- **Check before deciding:**\n  - **(Check):** Two Balmer lines at one velocity at least; a single line may be a sky residual, a cosmic ray or an arm join. The redshift is that of a star.\n- **(Confusers):** objects that look alike, and how to tell them apart:\n  - **Active M dwarf (dMe):** narrow Hα (unresolved, a few Å of equivalent width) on an M-dwarf spectrum with TiO and CaH, no blue continuum, no He II.\n  - **Nebula, H II region, emission-line galaxy:** narrow lines with [O III] 5007, [N II] 6583, [S II] 6716; a CV shows no forbidden lines (old novae aside).\n  - **Quasar or Seyfert galaxy:** broad lines at wavelengths that fit a large redshift (Mg II 2800, C IV 1549), not the Balmer series near zero velocity.\n  - **Be star, Herbig Ae/Be, T Tauri star:** emission narrower than about 600 km/s on an early-type or late-type photosphere; Li I 6708 in T Tauri stars.\n  - **Symbiotic star:** an M giant''s TiO bands with narrow emission, He II 4686, [O III], Raman O VI 6825.", "question": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.", "title": "Cataclysmic Variable (CV)"}}','[]','CO','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_sessions" VALUES(3,'8333e3ca336246958c69eb5613e756d5','ours against gpt','{"each": 2, "filter": {"batch": null, "disagreement": null, "simulated": null, "snr_max": null, "snr_min": null, "states": [], "survey": null}, "giveaways": "flag", "gold": [], "items": [3, 4, 5, 6], "mode": "both", "name": "ours against gpt", "number": null, "repeats": 0, "scorers": ["RE", "AU"], "seed": 1, "sources": [], "tasks": []}','{"cv": {"guide": "- **State 1: quiescence and low state:**\n  - **(Primary):** Broad emission in the Balmer series, Hα 6563 and Hβ 4861 first; equivalent width of tens of Å, FWHM above about 1000 km/s.\n  - **(Secondary):** Double peaks in Hα, Hβ or He I (an inclined disc): two maxima 500 to 1500 km/s apart around a central dip.\n  - **(Secondary):** Emission of He I 4471, 5876, 6678 and often weak He II 4686; a Balmer decrement flatter than in nebulae.\n  - **(Secondary):** In faint systems the white dwarf shows: broad Balmer absorption around the emission, a blue continuum; TiO bands of the donor in the red.\n- **State 2: outburst and high state (dwarf novae in outburst, novalikes):**\n  - **(Primary):** A steep blue continuum with weak Balmer lines: broad absorption troughs with narrow emission cores, Hα most filled in; Hα often still in emission.\n  - **(Secondary):** He II 4686 and the Bowen blend 4640 in emission.\n- **State 3: magnetic systems:**\n  - **(Secondary):** He II 4686 nearly as strong as Hβ (ratio of equivalent widths above 0.4), narrow asymmetric lines, sometimes cyclotron humps.\n- **Check before deciding:**\n  - **(Check):** Two Balmer lines at one velocity at least; a single line may be a sky residual, a cosmic ray or an arm join. The redshift is that of a star.\n- **(Confusers):** objects that look alike, and how to tell them apart:\n  - **Active M dwarf (dMe):** narrow Hα (unresolved, a few Å of equivalent width) on an M-dwarf spectrum with TiO and CaH, no blue continuum, no He II.\n  - **Nebula, H II region, emission-line galaxy:** narrow lines with [O III] 5007, [N II] 6583, [S II] 6716; a CV shows no forbidden lines (old novae aside).\n  - **Quasar or Seyfert galaxy:** broad lines at wavelengths that fit a large redshift (Mg II 2800, C IV 1549), not the Balmer series near zero velocity.\n  - **Be star, Herbig Ae/Be, T Tauri star:** emission narrower than about 600 km/s on an early-type or late-type photosphere; Li I 6708 in T Tauri stars.\n  - **Symbiotic star:** an M giant''s TiO bands with narrow emission, He II 4686, [O III], Raman O VI 6825.", "question": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.", "title": "Cataclysmic Variable (CV)"}}','[]','CO','2026-11-22T13:03:00.000+00:00');
CREATE TABLE blind_states (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES blind_sessions (id),
    state TEXT NOT NULL CHECK (state IN ('open', 'closed')),
    rubric TEXT CHECK (rubric IS NULL OR json_valid(rubric)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL,
    UNIQUE (session, state),
    CHECK ((state = 'open') = (rubric IS NOT NULL))
);
INSERT INTO "blind_states" VALUES(1,'1ab33c07de184f539fe13ababd345120',1,'open','{"version": "1", "note": "The published evaluation names two anchors, 0 (complete hallucination) and 5 (fully correct). The anchors 1 to 4, the questions and the choices between two traces were written for this program.", "cannot_tell": {"short": "cannot tell", "text": "These data do not let me judge it: too noisy, too short a range, or outside what I know. It counts as an answer, not as a low score."}, "scales": [{"key": "coherence", "title": "Coherence", "question": "Does each step follow from what was seen before, and the answer from the steps? Judge the reasoning, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "No line of thought. The steps refer to things that were never looked at or said, and the answer comes from nowhere.", "published": true}, {"score": 1, "short": "mostly incoherent", "text": "Single sentences make sense, but steps contradict each other or do not lead on, and the answer does not follow.", "published": false}, {"score": 2, "short": "broken", "text": "There is a line of thought with a break in it that matters: a contradiction left standing, or an answer that the steps do not bear.", "published": false}, {"score": 3, "short": "loose", "text": "The answer follows in the main, but a step is missing, needless or repeated, or a window is opened and then not used.", "published": false}, {"score": 4, "short": "sound, small lapses", "text": "Each step has its reason and the answer follows. A slip or two that changes nothing.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every step follows from what was seen, alternatives are weighed where there are any, and the answer follows from all of it.", "published": true}]}, {"key": "consistency", "title": "Physical consistency", "question": "Is what it says about the spectrum there, and does the physics hold: lines, wavelengths, frames, widths, what they mean? Judge the claims, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "What it describes is not in the spectrum, or is physically impossible throughout.", "published": true}, {"score": 1, "short": "mostly wrong", "text": "One or two claims hold. Most features are misnamed, misplaced or not there.", "published": false}, {"score": 2, "short": "a serious error", "text": "Several claims hold, but one that the argument rests on is wrong: a line that is not there, the wrong frame, noise or sky taken for a feature.", "published": false}, {"score": 3, "short": "right in the main", "text": "The features that decide are right. Others are wrong, overstated, or claimed where the data cannot show them.", "published": false}, {"score": 4, "short": "right, small errors", "text": "All features of weight are there and rightly read. A small error in a number, a name or a strength.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every claim can be seen in the spectrum and is rightly interpreted, and noise and limits of the data are named where they matter.", "published": true}]}], "preference_question": "Whose reasoning about this spectrum is better? Judge the reasoning, regardless of the verdict.", "choices": [{"key": "left", "short": "left better", "text": "The reasoning on the left is better: sounder, or truer to the spectrum."}, {"key": "right", "short": "right better", "text": "The reasoning on the right is better: sounder, or truer to the spectrum."}, {"key": "equal", "short": "equal", "text": "Both are about as good, and good enough to be of use."}, {"key": "both bad", "short": "both bad", "text": "Neither is of use. Choose this rather than the less bad one."}]}','CO','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_states" VALUES(2,'ff3bd605c51043a290a208ada1134f57',2,'open','{"version": "1", "note": "The published evaluation names two anchors, 0 (complete hallucination) and 5 (fully correct). The anchors 1 to 4, the questions and the choices between two traces were written for this program.", "cannot_tell": {"short": "cannot tell", "text": "These data do not let me judge it: too noisy, too short a range, or outside what I know. It counts as an answer, not as a low score."}, "scales": [{"key": "coherence", "title": "Coherence", "question": "Does each step follow from what was seen before, and the answer from the steps? Judge the reasoning, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "No line of thought. The steps refer to things that were never looked at or said, and the answer comes from nowhere.", "published": true}, {"score": 1, "short": "mostly incoherent", "text": "Single sentences make sense, but steps contradict each other or do not lead on, and the answer does not follow.", "published": false}, {"score": 2, "short": "broken", "text": "There is a line of thought with a break in it that matters: a contradiction left standing, or an answer that the steps do not bear.", "published": false}, {"score": 3, "short": "loose", "text": "The answer follows in the main, but a step is missing, needless or repeated, or a window is opened and then not used.", "published": false}, {"score": 4, "short": "sound, small lapses", "text": "Each step has its reason and the answer follows. A slip or two that changes nothing.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every step follows from what was seen, alternatives are weighed where there are any, and the answer follows from all of it.", "published": true}]}, {"key": "consistency", "title": "Physical consistency", "question": "Is what it says about the spectrum there, and does the physics hold: lines, wavelengths, frames, widths, what they mean? Judge the claims, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "What it describes is not in the spectrum, or is physically impossible throughout.", "published": true}, {"score": 1, "short": "mostly wrong", "text": "One or two claims hold. Most features are misnamed, misplaced or not there.", "published": false}, {"score": 2, "short": "a serious error", "text": "Several claims hold, but one that the argument rests on is wrong: a line that is not there, the wrong frame, noise or sky taken for a feature.", "published": false}, {"score": 3, "short": "right in the main", "text": "The features that decide are right. Others are wrong, overstated, or claimed where the data cannot show them.", "published": false}, {"score": 4, "short": "right, small errors", "text": "All features of weight are there and rightly read. A small error in a number, a name or a strength.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every claim can be seen in the spectrum and is rightly interpreted, and noise and limits of the data are named where they matter.", "published": true}]}], "preference_question": "Whose reasoning about this spectrum is better? Judge the reasoning, regardless of the verdict.", "choices": [{"key": "left", "short": "left better", "text": "The reasoning on the left is better: sounder, or truer to the spectrum."}, {"key": "right", "short": "right better", "text": "The reasoning on the right is better: sounder, or truer to the spectrum."}, {"key": "equal", "short": "equal", "text": "Both are about as good, and good enough to be of use."}, {"key": "both bad", "short": "both bad", "text": "Neither is of use. Choose this rather than the less bad one."}]}','CO','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_states" VALUES(3,'27a67822ad1740faab7582aed9a8e418',1,'closed',NULL,'CO','2026-11-22T13:43:00.000+00:00');
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    person TEXT NOT NULL REFERENCES people (initials),
    round TEXT NOT NULL,
    verb TEXT NOT NULL,
    reason TEXT NOT NULL,
    comment TEXT NOT NULL,
    withdraws INTEGER UNIQUE REFERENCES decisions (id),
    rules INTEGER NOT NULL REFERENCES settings (id),
    at TEXT NOT NULL,
    CHECK ((verb = 'undo') = (withdraws IS NOT NULL))
);
INSERT INTO "decisions" VALUES(1,'c435fcbfd2b949edb7cc5b6d98ae35ca',1,1,'RE','screening','keep','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(2,'680ae214b12b471a82516f05137cb76c',1,1,'RE','revision','submit','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(3,'581aea2f82ea41c69ea83ac19503064d',1,1,'AU','audit','pass','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(4,'306db1d191b641e4a0668a7d850c1784',1,1,'AX','audit','pass','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(5,'a23c52e3477c4f9ba69a9d46d97834e3',1,1,'VO','vote','approve','','Fine.
Two lines.',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(6,'3edc8f1129a7499fa8cd4aed38050438',1,1,'VO','vote','undo','','',5,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(7,'1fa494be49224c9ba38120d8f91cbf99',1,1,'VO','vote','approve','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(8,'28d855a81b664b45a92b1d40577d8a46',1,1,'ZO','vote','approve','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(9,'70af973299854431a1769ea382b11762',2,2,'RE','screening','keep','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(10,'2e5cedb1257249b285d21d53de2be58a',2,2,'RE','revision','submit','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(11,'752c24f8c5fd40c3bdda5b9e2b26e0db',2,2,'AU','audit','return','','look again',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(12,'952c7a667b4f4011895c7703e48ad795',7,7,'RE','screening','keep','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(13,'0a8cc37c0a8b4e1999e150169928b873',7,7,'RE','revision','submit','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(14,'8330aae9aa194c5eaa13ccc463187537',7,7,'AU','audit','pass','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(15,'cb03ab556a7144708dbe6c42c1593c1a',9,9,'RE','screening','reject','bad_data','',NULL,2,'2026-11-22T12:03:00.000+00:00');
CREATE TABLE exports (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (initials),
    manifest TEXT NOT NULL CHECK (json_valid(manifest)),
    at TEXT NOT NULL
);
INSERT INTO "exports" VALUES(1,'first','CO','{"items": [1], "note": "größer"}','2026-11-22T12:03:00.000+00:00');
CREATE TABLE grids (
    sha256 TEXT PRIMARY KEY,
    pixels INTEGER NOT NULL,
    wavelength_type TEXT NOT NULL CHECK (wavelength_type IN ('<f4', '<f8')),
    wavelength BLOB NOT NULL
) WITHOUT ROWID;
INSERT INTO "grids" VALUES('c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626',300,'<f8',X'789CEDC1F923138A03007047B2353247ACD058CD726D29D764C895AB7DB7F608152B42CB44C815CB99A369F12CE67AE426B98F5C89468A1C092B32595A52B926E69BF723F5DE0FDF3FE0FBF908E8861AFB0D59E7CF3E0F5C6BF5F6743D9678336CF7B9901922844843BD916D2811B032CB0FBF8B703F46675A9BD2A57B8E5E495E750BDF0D9F30DF88CC6346B017A0633D299822945E4E701A706179ADB78F567733363FF94107B0A41D79854475EB481D8CAC768C4605C6B41499BC8F1CF17C393D51040173B2941FDBD0BB4AA054D3D1D63A55362945C1E850A510244E3E8C6FB6594F975B5B2FB9202AA44C2B571A7F9F96C77DA51D314DD60CD910E7725BC6B307DF5B7F4A50BC648CE430099F2DD6CDD2519CE1AFEBF07E0F63E345DB708946FDE4374686C9A872F82575B7C35AFBC968236DA7C751D93257F1FBF6BA27F58A9DABCE5865103C0AA192F992F68EBD5A2C889432278C4F116D5E0F4F352349C465AD1CD520426A24461E8DE1CC235FE140565B029FF6FC177253BE1590FC42EB98D9C71AE7BAAE56B0DF5471F085FE1ADFF934B26487CBB397788B5D0E417297846081068653B22127743FDFFEF2088607F3BC32EF1B13AEABB045E6C6A0624B48A45FAACD3541F5539CFEDD2CD6EC11D5E756D66F43656589CECB05215215301E41A6B761EEB0107B0DCF22A6C3735393E45ED89ECE551774A0595A17D588DE4B4E2F966FE99C324CE0E367182278E7D2F0A18BD552A50158FE11FFEBCDEFA31DA01D066D8594FD14112CEEC291E77D2A049B44A5AA20C2808246C1A265D98FCFD083973DD3AF539C9A83D24F0B5E380D82479268B27FC2CE7B4BE4CA29023E25DF7382012560F01F11C5FE02C971B144242EA4961408912E4C37CBD432BD00830517DEAF6222F2A2FE72CAE23A6503EE8D2AFB5CA32EC6AC3131A1015B02878FF34E09CB5E97DBE382CA9BD5EA17395ABDE25BA0E083467CB1DAB5BCBA34D5105B5939662A71C9C3D6827655E19BF6C9008DE1E19CAA98DCC41130EB75FEA2FFFB657F04DBBF85C16B9D713DEEFE53AA196CE8D975FBABD19367F975C4BD48FD12C1FE6CD13255943723F0D91F2BB7C6D889CC94EF7309F31AD7D87530D29BDAB34A7EF5AEDC91C26F5676F9BC4D5FE96A79F5275DF0B71FED0E78E2F87FE2C9C8A9112F01E08A1169D75F1384E64E7839D44123DE81AAAED7F1AEF23C44BE0440CBA48ECE99FA6C461781036908A0B88CE844AC6422A03C4BC2246043DD4BB1ADB7DB6CDA485C78268026FD918FE50CAA4AB7130D73DEDADFA84DBA7DC2020BD0A2AD99BBE8F62915D6F68BDD0DE51D73EBA482E24E3728B249B09BDFD7E5A706E3D28B1DED715B023A3A62CF830EB1CA72999AD30B976CEA2BCDA242B49FA212A78DEAB0FBE1141DFB0511170088AC73551633A7F0C1D46CDE14275FB1C7D0E6841CA732C806A9762A69AB9CDE6305B55FDC0C0F1796EB046D647C159A8CDF436E5C5239C7987798CD4EAA3B34BDE48E89B3BAE3DCDA7CBEA23614482AEC1E1C1A662D2328C26D8D1B7729AFD34768E37528FCE11A1184F266772446787264F1E4CBAC561D69D743244C49BDCFA418602209D16CC7CDF2F5790099F87E055B9EC8E3176CEEE5DC01878E1DA34B94FA90CAF495AFA1C8DA34AA5E46E7E3BB58C18610FBB3495B6D2376BAD9C932467215400CC1C9F9F2ED1726CBDFCD7FAA8D8A4F3B27846126BDBE04C98EF5FEF0B78AD16B600C389BA59C0E4710803864C5E003B56BC176CB812C8447CE1B598F7EC2960040D93676089979A0CCF667273D3C302283B9EB8F06D54796DFCA831D6DB0EED4DE7D2D2B7AD1E37AB99277C0B9BAE3D17ABC76DA55BC09DAD0DAF556F934D4AB054259242FC740BBFD35973A3329644F52484A2307EA5E2B7EFD83CB6CA054B3B7DA726F714A42527AF5A888C96D967E3E84817872597624CBEF8C09DA18E793FE4AEA621B9C215F6A3E9FEBAA29FA953DF31D74DCB3F4877DBB4EB3ED673A4EEECB407B6B0F1B6048194466EECBD16151FF7370933BBB20A24E2CE039F658BEF6957F931BECEA70DE8FDE274E7CAA5D6F3977FF2C42746D6DB78A03FDA365A37E9FF741767D46726AD910F04C855CAA52870F4A88F396BD71C8B50274F3672A7AA92D233E21BB8B6F3904B449E35A3E54BC7FA018331987E6B5513D6DF58F6A61CEF8310640670AB63EFD94513371204733AA7A2657403034CE3382FEB0FBDD320866708614C5A8E99BE103F7C19006A70844EF90D8949CF2A6EEA1A9F91F2252500DB42581E813164F7F50D5FE62626E4508ACA88E3E65EFE647A1669636315F7F58DCDAABA06E6075D623203A25AFAA6360F2CB26E8802ADACAD133288E5E54FF6C94B32AB20FAE6361EF7123EE7E7153EF047703A4A089C1BAFA46A516D433C7B97CB183A89384CB37E21915ED831F5645F76B18E1DD6EC46756768E7C5C17533A6EE9E47D2BB5F8F1C0CC2A5051CBC2891C9956D63E3CC7071F4663DD82EFE435BE64F340CABA761783A8F94D03B31B60150CE1CA2DFAC32ED622E0A08E9D5B584A69E7F83751A82ED623825EC99C5A139551D2D0B7C0BB9082A26959A50D4F5FBDE3F284C18A6A7AE67817EF90B8D48A8A87DB2AB73DDA56F52FAAFFA9E69F6A7F57F79BFADF34FCAAF1174DBF68DEE9F14E2D3BB4EED0B6AD7D5BC7B627FFA2730793FFFB9FFD0D7CFB8B39');
CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    spectrum TEXT REFERENCES spectra (sha256),
    name TEXT NOT NULL,
    task TEXT NOT NULL,
    drafter_kind TEXT NOT NULL,
    drafter_name TEXT NOT NULL,
    label TEXT CHECK (label IN ('YES', 'NO')),
    simulated INTEGER NOT NULL,
    batch TEXT NOT NULL,
    survey TEXT NOT NULL,
    snr REAL,
    added_at TEXT NOT NULL
);
INSERT INTO "items" VALUES(1,'sha256:a3855ab414e444ebb87246063960e13dcf44304785e5eacea1a9b58574fce2c0','034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b','spec-0000.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(2,'sha256:1f77604def244c35f37d2fdf3a7ce9f73a731b763be3110b1ac95ddb4741d6e6','034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b','spec-0000.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(3,'sha256:669c493c265dee0442689d4dd0c9f8147da1ebb108ac8299dabeff7a1ebb6933','65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76','spec-0001.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(4,'sha256:df7f2075f84190c44abe57353a301c1668768fc78d3096dabf6836bfae310f03','65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76','spec-0001.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(5,'sha256:f4a189e4892a3db78f98cd299590b039b9a5fa499c47f6dc430a3fddbfb69c0d','179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038','spec-0002.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(6,'sha256:ed75bb616aaa004bf19dcb3b9892b1ece7bd2423bcb03b625871680653fbdfb7','179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038','spec-0002.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(7,'sha256:29f6ad24dd714115b56e6ae86278f3834f769c3a223e2dbbb07515ef28ad6787','0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29','spec-0003.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(8,'sha256:ac35cfb1fc151079d0588b55846537bd3f1ad5ce2e35905c508dc76ec8b29b0e','0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29','spec-0003.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(9,'sha256:e871b283c9ba77c7417d3a47a657b310ea2be90a6a79a012912bef3d6f798db0',NULL,'gone.fits','cv','baseline','rule 1',NULL,0,'','',NULL,'2026-11-21T12:00:00.000+00:00');
PRAGMA writable_schema=ON;
INSERT INTO sqlite_master(type,name,tbl_name,rootpage,sql)VALUES('table','items_text','items_text',0,'CREATE VIRTUAL TABLE items_text USING fts5 (text, content='''', tokenize=''trigram'')');
CREATE TABLE 'items_text_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO "items_text_config" VALUES('version',4);
CREATE TABLE 'items_text_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO "items_text_data" VALUES(1,X'09812F');
INSERT INTO "items_text_data" VALUES(10,X'000000000109090009010101020101030101040101050101060101070101080101090101');
INSERT INTO "items_text_data" VALUES(137438953473,X'000000A004300A313401021001032D303001020601032E666901020B0103302E6601020A0202302E0102090301300104070301033132330102140202343801021101033233340102150103333435010216010334383101021201033831320102130103632D30010205010365632D010204010366697401020C010369747301020D01037065630102030103730A3101020F02027065010202010374730A01020E0408080808070708070808080808080808080807');
INSERT INTO "items_text_data" VALUES(274877906945,X'000000A004300A313402021001032D303002020601032E666902020B0103302E6602020A0202302E0202090301300204070301033132330202140202343802021101033233340202150103333435020216010334383102021201033831320202130103632D30020205010365632D020204010366697402020C010369747302020D01037065630202030103730A3102020F02027065020202010374730A02020E0408080808070708070808080808080808080807');
INSERT INTO "items_text_data" VALUES(412316860417,X'000000A604300A313403021001032D303003020601032E666903020B01033030300302070301310302080202312E0302090103312E6603020A020232330302140202343803021101033233340302150103333435030216010334383103021201033831320302130103632D30030205010365632D030204010366697403020C010369747303020D01037065630302030103730A3103020F02027065030202010374730A03020E040808080806070807070808080808080808080807');
INSERT INTO "items_text_data" VALUES(549755813889,X'000000A604300A313404021001032D303004020601032E666904020B01033030300402070301310402080202312E0402090103312E6604020A020232330402140202343804021101033233340402150103333435040216010334383104021201033831320402130103632D30040205010365632D040204010366697404020C010369747304020D01037065630402030103730A3104020F02027065040202010374730A04020E040808080806070807070808080808080808080807');
INSERT INTO "items_text_data" VALUES(687194767361,X'000000A604300A313405021001032D303005020601032E666905020B01033030300502070301320502080202322E0502090103313233050214020234380502110103322E6605020A020233340502150103333435050216010334383105021201033831320502130103632D30050205010365632D050204010366697405020C010369747305020D01037065630502030103730A3105020F02027065050202010374730A05020E040808080806070807080708080808080808080807');
INSERT INTO "items_text_data" VALUES(824633720833,X'000000A604300A313406021001032D303006020601032E666906020B01033030300602070301320602080202322E0602090103313233060214020234380602110103322E6606020A020233340602150103333435060216010334383106021201033831320602130103632D30060205010365632D060204010366697406020C010369747306020D01037065630602030103730A3106020F02027065060202010374730A06020E040808080806070807080708080808080808080807');
INSERT INTO "items_text_data" VALUES(962072674305,X'000000A604300A313407021001032D303007020601032E666907020B01033030300702070301330702080202332E07020901033132330702140202343807021101033233340702150103332E6607020A02023435070216010334383107021201033831320702130103632D30070205010365632D070204010366697407020C010369747307020D01037065630702030103730A3107020F02027065070202010374730A07020E040808080806070807080807080808080808080807');
INSERT INTO "items_text_data" VALUES(1099511627777,X'000000A604300A313408021001032D303008020601032E666908020B01033030300802070301330802080202332E08020901033132330802140202343808021101033233340802150103332E6608020A02023435080216010334383108021201033831320802130103632D30080205010365632D080204010366697408020C010369747308020D01037065630802030103730A3108020F02027065080202010374730A08020E040808080806070807080807080808080808080807');
INSERT INTO "items_text_data" VALUES(1236950581249,X'0000003C04302E66690902060103652E6609020501036669740902070103676F6E090202010369747309020801036E652E09020401036F6E6509020304080808080808');
CREATE TABLE 'items_text_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
INSERT INTO "items_text_docsize" VALUES(1,X'15');
INSERT INTO "items_text_docsize" VALUES(2,X'15');
INSERT INTO "items_text_docsize" VALUES(3,X'15');
INSERT INTO "items_text_docsize" VALUES(4,X'15');
INSERT INTO "items_text_docsize" VALUES(5,X'15');
INSERT INTO "items_text_docsize" VALUES(6,X'15');
INSERT INTO "items_text_docsize" VALUES(7,X'15');
INSERT INTO "items_text_docsize" VALUES(8,X'15');
INSERT INTO "items_text_docsize" VALUES(9,X'07');
CREATE TABLE 'items_text_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
INSERT INTO "items_text_idx" VALUES(1,X'',2);
INSERT INTO "items_text_idx" VALUES(2,X'',2);
INSERT INTO "items_text_idx" VALUES(3,X'',2);
INSERT INTO "items_text_idx" VALUES(4,X'',2);
INSERT INTO "items_text_idx" VALUES(5,X'',2);
INSERT INTO "items_text_idx" VALUES(6,X'',2);
INSERT INTO "items_text_idx" VALUES(7,X'',2);
INSERT INTO "items_text_idx" VALUES(8,X'',2);
INSERT INTO "items_text_idx" VALUES(9,X'',2);
CREATE TABLE leases (
    id INTEGER PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    person TEXT NOT NULL REFERENCES people (initials),
    round TEXT NOT NULL,
    taken_at TEXT NOT NULL,
    renewed_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    ended TEXT CHECK (ended IN ('decided', 'released', 'round over', 'expired', 'deactivated'))
);
INSERT INTO "leases" VALUES(1,'ZDi1jdntygwxsKsYDh_lH1WdPbqos0MTRH8aOiP55vU',1,'RE','screening','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(2,'6tPxyfq5FADFkSE2mVsqugBMevIjWYLmxR73Lmah0qU',1,'RE','revision','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(3,'zeTtiVmTOmCKT5B4O1njXbh4N-80JpLi7jhBa2liew4',1,'AU','audit','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(4,'EqnSxc-4CUkK2saGwnA4QSDPooJj42pGz0x-iBOucfk',1,'AX','audit','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(5,'54mPZBm6iG-ftsEds2zfhKX8Wt_-1zfoGhxZgg45cMU',1,'VO','vote','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(6,'xCK40QdAVjIfRCur1G_Cmm6haxYgy3dFwNh3Vd-eh_8',1,'VO','vote','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(7,'zfldZXmFZ5t-w7hPhAXxkPzCmINOBGlTN_EJymAIFpc',1,'ZO','vote','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(8,'bdeysi7JWkF1Mv2TSjDUzGxIeVZZ0YAhvMtLcu3zys0',2,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(9,'HnrBzKG-zb-7rsMFVwHmZXP-auje0cvpg0BVUx6_5gY',2,'RE','revision','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(10,'wY_sgH7_4T9WSHOuyA14b75SzrzMEe4fT6qZL0dM84Q',2,'AU','audit','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(11,'ppA0qBR8qNPppQhsCbJGuH4wPRClsAgqRq6ODD-KLtc',2,'RE','revision','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','expired');
INSERT INTO "leases" VALUES(12,'Rego3s7uhTDgEGC3RSUhw5oMd36qYEw1hqAwxQBJTPQ',7,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(13,'IFhX3B_K2cUxwL1wOse9ILongSmxdhwe_VqEM7L9AiU',7,'RE','revision','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(14,'xFx5tvzBlz1Xa8ixgsgVcwSqHNBz84-Xz7291suXdGw',7,'AU','audit','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(15,'NpcGIjfglsFCwqKOyidbtlx5Ok-_YK8O7cQ5hV4eVsM',9,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(16,'IpzAOMFITl_flPPCU1GUFLjwzN0xBDb31oFqBkiaWt0',3,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','released');
INSERT INTO "leases" VALUES(17,'OIJdMchdri8pjowqnsY-zlOlKtgao0XQdO93AxOUpOU',7,'AX','audit','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','expired');
INSERT INTO "leases" VALUES(18,'UNkXkPYiyP5tRm4m11lQROTFlTg5x6lvLNypxXcvRaM',4,'VO','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','expired');
INSERT INTO "leases" VALUES(19,'csD50xgKVI5FACf5cLSz5CIpGHV1F_Q7tRJZXHISX2E',4,'RE','screening','2026-11-22T13:03:00.000+00:00','2026-11-22T13:03:00.000+00:00','2026-11-22T13:18:00.000+00:00',NULL);
CREATE TABLE marks (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    step TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (initials),
    mark TEXT NOT NULL,
    note TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "marks" VALUES(1,'5a1ffd8361d14327903448756b86e6ec',1,1,'s3','VO','hallucinated feature','=cmd|''x''!A1 and “quotes”','2026-11-22T12:00:00.000+00:00');
CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL);
INSERT INTO "migrations" VALUES(1,'first schema','2026-11-21T16:37:49.670+00:00');
INSERT INTO "migrations" VALUES(2,'blind sessions','2026-11-21T16:37:49.705+00:00');
CREATE TABLE people (
    initials TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    roles TEXT NOT NULL CHECK (json_valid(roles)),
    password TEXT,
    active INTEGER NOT NULL DEFAULT 1,
    added_at TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "people" VALUES('AU','Dr AU','["auditor"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('AX','Dr AX','["auditor"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('CO','Dr CO','["coordinator"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('JU','Dr JU','["auditor"]',NULL,0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('RE','Dr RE','["reviewer"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('VO','Dr VO','["reviewer"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('ZO','Zoë Ångström','["auditor", "reviewer"]','scrypt$15$8$3$2ab1286c221fe4a4715832bca0e17926$199394851e71e5df2d3da2e3723064742c69e00e2ca9c9dde49299549a035b45',1,'2026-11-21T12:00:00.000+00:00');
CREATE TABLE pictures (sha256 TEXT PRIMARY KEY, png BLOB NOT NULL);
INSERT INTO "pictures" VALUES('72f029cb07a1704fd328e4dc99fd2609374fb8e520f9021f8d3bcc7d761a0296',X'89504E470D0A1A0A0000000D49484452000000030000000208020000001216F14D0000001549444154789C63646068606060606060606280010008BC00847A9A81500000000049454E44AE426082');
CREATE TABLE sessions (
    token_hash TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES people (initials),
    started_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    ended_at TEXT
) WITHOUT ROWID;
INSERT INTO "sessions" VALUES('772259cc749620b09cb204d5a0f6ba65efbc9eea26560716a5bda96630eb729b','ZO','2026-11-22T13:03:00.000+00:00','2026-11-29T13:03:00.000+00:00','2026-11-22T13:03:00.000+00:00');
INSERT INTO "sessions" VALUES('f164dbcbf4466da2ed89a01b9ab1019ad960e06156eadcf1243f9361aba419a3','ZO','2026-11-22T13:03:00.000+00:00','2026-11-29T13:03:00.000+00:00',NULL);
CREATE TABLE settings (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    value TEXT NOT NULL CHECK (json_valid(value)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
INSERT INTO "settings" VALUES(1,'rules','{"approve_at": 2, "auditors": 2, "reject_at": 2, "solo": false, "votes": 2}',NULL,'2026-11-21T16:37:49.669+00:00');
INSERT INTO "settings" VALUES(2,'rules','{"approve_at": 2, "auditors": 2, "reject_at": 2, "solo": false, "votes": 3}','CO','2026-11-21T12:00:00.000+00:00');
INSERT INTO "settings" VALUES(3,'campaign','{"name": "November", "classes": ["cv"]}','CO','2026-11-21T12:00:00.000+00:00');
CREATE TABLE sign_ins (
    id INTEGER PRIMARY KEY,
    initials TEXT NOT NULL,
    origin TEXT NOT NULL,
    ok INTEGER NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "sign_ins" VALUES(1,'ZO','10.0.0.1',1,'2026-11-22T13:03:00.000+00:00');
INSERT INTO "sign_ins" VALUES(2,'ZO','10.0.0.2',1,'2026-11-22T13:03:00.000+00:00');
INSERT INTO "sign_ins" VALUES(3,'ZO','10.0.0.3',0,'2026-11-22T13:03:00.000+00:00');
CREATE TABLE spectra (
    sha256 TEXT PRIMARY KEY,
    grid TEXT NOT NULL REFERENCES grids (sha256),
    name TEXT NOT NULL,
    survey TEXT NOT NULL,
    medium TEXT NOT NULL CHECK (medium IN ('vacuum', 'air')),
    frame TEXT NOT NULL CHECK (frame IN ('observed', 'rest')),
    flux_unit TEXT NOT NULL,
    redshift REAL,
    ra REAL,
    dec REAL,
    catalogue_class TEXT NOT NULL,
    errors TEXT NOT NULL,
    details TEXT NOT NULL CHECK (json_valid(details)),
    flux_type TEXT NOT NULL CHECK (flux_type IN ('<f4', '<f8')),
    flux BLOB NOT NULL,
    ivar_type TEXT NOT NULL CHECK (ivar_type IN ('<f4', '<f8')),
    ivar BLOB NOT NULL,
    mask BLOB NOT NULL,
    added_at TEXT NOT NULL
);
INSERT INTO "spectra" VALUES('034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0000.fits','LAMOST','vacuum','observed','relative',0.0,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
INSERT INTO "spectra" VALUES('65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0001.fits','LAMOST','vacuum','observed','relative',0.01,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
INSERT INTO "spectra" VALUES('179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0002.fits','LAMOST','vacuum','observed','relative',0.02,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
INSERT INTO "spectra" VALUES('0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0003.fits','LAMOST','vacuum','observed','relative',0.03,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
CREATE TABLE standings (
    item INTEGER PRIMARY KEY REFERENCES items (id),
    state TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES versions (id),
    number INTEGER NOT NULL,
    "cast" INTEGER NOT NULL,
    compared INTEGER NOT NULL,
    disagreement INTEGER NOT NULL,
    decided_at TEXT,
    task TEXT NOT NULL,
    survey TEXT NOT NULL,
    snr REAL,
    drafter TEXT NOT NULL,
    batch TEXT NOT NULL,
    simulated INTEGER NOT NULL
);
INSERT INTO "standings" VALUES(1,'approved',1,1,0,1,0,'2026-11-22T12:03:00.000+00:00','cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(2,'returned',10,2,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(3,'screening',3,1,0,0,0,NULL,'cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(4,'screening',4,1,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(5,'screening',5,1,0,0,0,NULL,'cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(6,'screening',6,1,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(7,'audit',7,1,1,0,0,NULL,'cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(8,'screening',8,1,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(9,'rejected',9,1,0,0,0,'2026-11-22T12:03:00.000+00:00','cv','',NULL,'rule 1','',0);
CREATE TABLE tallies (
    state TEXT, task TEXT, survey TEXT, drafter TEXT, batch TEXT, disagreement INTEGER, simulated INTEGER,
    items INTEGER NOT NULL CHECK (items >= 0),
    PRIMARY KEY (state, task, survey, drafter, batch, disagreement, simulated)
) WITHOUT ROWID;
INSERT INTO "tallies" VALUES('approved','cv','LAMOST','gpt-5','november',0,0,1);
INSERT INTO "tallies" VALUES('audit','cv','LAMOST','Spec-o3-7B','november',0,0,0);
INSERT INTO "tallies" VALUES('audit','cv','LAMOST','gpt-5','november',0,0,1);
INSERT INTO "tallies" VALUES('rejected','cv','','rule 1','',0,0,1);
INSERT INTO "tallies" VALUES('returned','cv','LAMOST','Spec-o3-7B','november',0,0,1);
INSERT INTO "tallies" VALUES('revision','cv','LAMOST','Spec-o3-7B','november',0,0,0);
INSERT INTO "tallies" VALUES('revision','cv','LAMOST','gpt-5','november',0,0,0);
INSERT INTO "tallies" VALUES('screening','cv','','rule 1','',0,0,0);
INSERT INTO "tallies" VALUES('screening','cv','LAMOST','Spec-o3-7B','november',0,0,3);
INSERT INTO "tallies" VALUES('screening','cv','LAMOST','gpt-5','november',0,0,2);
INSERT INTO "tallies" VALUES('vote','cv','LAMOST','gpt-5','november',0,0,0);
CREATE TABLE verdicts (
    id INTEGER PRIMARY KEY,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    person TEXT NOT NULL REFERENCES people (initials),
    verdict TEXT NOT NULL CHECK (verdict IN ('YES', 'NO', 'cannot tell')),
    at TEXT NOT NULL,
    UNIQUE (item, person, version)
);
INSERT INTO "verdicts" VALUES(1,1,1,'VO','cannot tell','2026-11-22T12:00:00.000+00:00');
CREATE TABLE versions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    number INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    parent INTEGER REFERENCES versions (id),
    author TEXT REFERENCES people (initials),
    reason TEXT NOT NULL,
    at TEXT NOT NULL,
    -- Last, because SQLite reads through a long column to get at those behind it.
    body TEXT NOT NULL CHECK (json_valid(body)),
    UNIQUE (item, number)
);
INSERT INTO "versions" VALUES(1,'draft:sha256:a3855ab414e444ebb87246063960e13dcf44304785e5eacea1a9b58574fce2c0',1,1,'sha256:a3855ab414e444ebb87246063960e13dcf44304785e5eacea1a9b58574fce2c0',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0000.fits","sha256":"034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(2,'draft:sha256:1f77604def244c35f37d2fdf3a7ce9f73a731b763be3110b1ac95ddb4741d6e6',2,1,'sha256:1f77604def244c35f37d2fdf3a7ce9f73a731b763be3110b1ac95ddb4741d6e6',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0000.fits","sha256":"034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(3,'draft:sha256:669c493c265dee0442689d4dd0c9f8147da1ebb108ac8299dabeff7a1ebb6933',3,1,'sha256:669c493c265dee0442689d4dd0c9f8147da1ebb108ac8299dabeff7a1ebb6933',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0001.fits","sha256":"65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(4,'draft:sha256:df7f2075f84190c44abe57353a301c1668768fc78d3096dabf6836bfae310f03',4,1,'sha256:df7f2075f84190c44abe57353a301c1668768fc78d3096dabf6836bfae310f03',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0001.fits","sha256":"65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(5,'draft:sha256:f4a189e4892a3db78f98cd299590b039b9a5fa499c47f6dc430a3fddbfb69c0d',5,1,'sha256:f4a189e4892a3db78f98cd299590b039b9a5fa499c47f6dc430a3fddbfb69c0d',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0002.fits","sha256":"179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(6,'draft:sha256:ed75bb616aaa004bf19dcb3b9892b1ece7bd2423bcb03b625871680653fbdfb7',6,1,'sha256:ed75bb616aaa004bf19dcb3b9892b1ece7bd2423bcb03b625871680653fbdfb7',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0002.fits","sha256":"179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(7,'draft:sha256:29f6ad24dd714115b56e6ae86278f3834f769c3a223e2dbbb07515ef28ad6787',7,1,'sha256:29f6ad24dd714115b56e6ae86278f3834f769c3a223e2dbbb07515ef28ad6787',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0003.fits","sha256":"0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(8,'draft:sha256:ac35cfb1fc151079d0588b55846537bd3f1ad5ce2e35905c508dc76ec8b29b0e',8,1,'sha256:ac35cfb1fc151079d0588b55846537bd3f1ad5ce2e35905c508dc76ec8b29b0e',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0003.fits","sha256":"0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(9,'draft:sha256:e871b283c9ba77c7417d3a47a657b310ea2be90a6a79a012912bef3d6f798db0',9,1,'sha256:e871b283c9ba77c7417d3a47a657b310ea2be90a6a79a012912bef3d6f798db0',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"gone.fits","sha256":null},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"baseline","name":"rule 1","settings":{}},"label":null,"label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Only its picture is left."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(10,'6f0b2b644fd04f72bf1a03dbe3cdbaa2',2,2,'sha256:91eb91d9d58a9c8383582a025b85dd13c8cef2b6fdb6681963adcaa162415f4f',2,'RE','clearer','2026-11-22T12:03:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0000.fits","sha256":"034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Hα is narrow; the second look says so."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
CREATE INDEX settings_by_name ON settings (name, id);
CREATE INDEX sign_ins_by_initials ON sign_ins (initials, origin, at);
CREATE INDEX items_by_spectrum ON items (spectrum);
CREATE INDEX versions_by_author ON versions (author, item) WHERE author IS NOT NULL;
CREATE INDEX decisions_by_item ON decisions (item, id);
CREATE INDEX marks_by_item ON marks (item, id);
CREATE UNIQUE INDEX leases_running ON leases (item, person) WHERE ended IS NULL;
CREATE INDEX standings_walk
    ON standings (state, item, task, survey, snr, drafter, batch, disagreement, simulated);
CREATE INDEX standings_snr
    ON standings (snr, state, task, survey, drafter, batch, disagreement, simulated);
CREATE INDEX barred_by_item ON barred (item);
CREATE TRIGGER standings_insert AFTER insert ON standings BEGIN INSERT INTO tallies VALUES (new.state, new.task, new.survey, new.drafter, new.batch, new.disagreement, new.simulated, 1) ON CONFLICT DO UPDATE SET items = items + 1; END;
CREATE TRIGGER standings_delete AFTER delete ON standings BEGIN UPDATE tallies SET items = items - 1 WHERE state = old.state AND task = old.task AND survey = old.survey AND drafter = old.drafter AND batch = old.batch AND disagreement = old.disagreement AND simulated = old.simulated; END;
CREATE TRIGGER standings_update AFTER update OF state, task, survey, drafter, batch, disagreement, simulated ON standings BEGIN UPDATE tallies SET items = items - 1 WHERE state = old.state AND task = old.task AND survey = old.survey AND drafter = old.drafter AND batch = old.batch AND disagreement = old.disagreement AND simulated = old.simulated;INSERT INTO tallies VALUES (new.state, new.task, new.survey, new.drafter, new.batch, new.disagreement, new.simulated, 1) ON CONFLICT DO UPDATE SET items = items + 1; END;
CREATE TRIGGER versions_no_update BEFORE update ON versions BEGIN SELECT RAISE(ABORT, 'versions are facts: append, never update'); END;
CREATE TRIGGER versions_no_delete BEFORE delete ON versions BEGIN SELECT RAISE(ABORT, 'versions are facts: append, never delete'); END;
CREATE TRIGGER decisions_no_update BEFORE update ON decisions BEGIN SELECT RAISE(ABORT, 'decisions are facts: append, never update'); END;
CREATE TRIGGER decisions_no_delete BEFORE delete ON decisions BEGIN SELECT RAISE(ABORT, 'decisions are facts: append, never delete'); END;
CREATE TRIGGER marks_no_update BEFORE update ON marks BEGIN SELECT RAISE(ABORT, 'marks are facts: append, never update'); END;
CREATE TRIGGER marks_no_delete BEFORE delete ON marks BEGIN SELECT RAISE(ABORT, 'marks are facts: append, never delete'); END;
CREATE TRIGGER verdicts_no_update BEFORE update ON verdicts BEGIN SELECT RAISE(ABORT, 'verdicts are facts: append, never update'); END;
CREATE TRIGGER verdicts_no_delete BEFORE delete ON verdicts BEGIN SELECT RAISE(ABORT, 'verdicts are facts: append, never delete'); END;
CREATE TRIGGER settings_no_update BEFORE update ON settings BEGIN SELECT RAISE(ABORT, 'settings are facts: append, never update'); END;
CREATE TRIGGER settings_no_delete BEFORE delete ON settings BEGIN SELECT RAISE(ABORT, 'settings are facts: append, never delete'); END;
CREATE INDEX blind_scores_by_assignment ON blind_scores (assignment, id);
CREATE INDEX blind_preferences_by_assignment ON blind_preferences (assignment, id);
CREATE INDEX blind_judgements_by_session ON blind_judgements (session, judge);
CREATE TRIGGER blind_sessions_no_update BEFORE update ON blind_sessions BEGIN SELECT RAISE(ABORT, 'blind_sessions are facts: append, never update'); END;
CREATE TRIGGER blind_sessions_no_delete BEFORE delete ON blind_sessions BEGIN SELECT RAISE(ABORT, 'blind_sessions are facts: append, never delete'); END;
CREATE TRIGGER blind_assignments_no_update BEFORE update ON blind_assignments BEGIN SELECT RAISE(ABORT, 'blind_assignments are facts: append, never update'); END;
CREATE TRIGGER blind_assignments_no_delete BEFORE delete ON blind_assignments BEGIN SELECT RAISE(ABORT, 'blind_assignments are facts: append, never delete'); END;
CREATE TRIGGER blind_states_no_update BEFORE update ON blind_states BEGIN SELECT RAISE(ABORT, 'blind_states are facts: append, never update'); END;
CREATE TRIGGER blind_states_no_delete BEFORE delete ON blind_states BEGIN SELECT RAISE(ABORT, 'blind_states are facts: append, never delete'); END;
CREATE TRIGGER blind_scores_no_update BEFORE update ON blind_scores BEGIN SELECT RAISE(ABORT, 'blind_scores are facts: append, never update'); END;
CREATE TRIGGER blind_scores_no_delete BEFORE delete ON blind_scores BEGIN SELECT RAISE(ABORT, 'blind_scores are facts: append, never delete'); END;
CREATE TRIGGER blind_preferences_no_update BEFORE update ON blind_preferences BEGIN SELECT RAISE(ABORT, 'blind_preferences are facts: append, never update'); END;
CREATE TRIGGER blind_preferences_no_delete BEFORE delete ON blind_preferences BEGIN SELECT RAISE(ABORT, 'blind_preferences are facts: append, never delete'); END;
CREATE TRIGGER blind_judgements_no_update BEFORE update ON blind_judgements BEGIN SELECT RAISE(ABORT, 'blind_judgements are facts: append, never update'); END;
CREATE TRIGGER blind_judgements_no_delete BEFORE delete ON blind_judgements BEGIN SELECT RAISE(ABORT, 'blind_judgements are facts: append, never delete'); END;
PRAGMA writable_schema=OFF;
COMMIT;
PRAGMA application_id = 1399869235;
